import { formatSize } from "./file-size";

/** Why a file cannot be uploaded, in words for people; null when it can. */
export function refusalOf(file: Pick<File, "name" | "size">, maxBytes: number | null): string | null {
  if (file.size === 0) return "This file is empty.";
  if (maxBytes !== null && file.size > maxBytes) {
    return `This file is ${formatSize(file.size)}; the limit is ${formatSize(maxBytes)}.`;
  }
  return null;
}
