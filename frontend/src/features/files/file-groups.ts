import type { ThreadFile } from "@/api/types";

/** All versions of one guest path, newest first. */
export interface FileGroup {
  latest: ThreadFile;
  versions: readonly ThreadFile[];
}

export function groupVersions(files: readonly ThreadFile[]): FileGroup[] {
  const groups = new Map<string, ThreadFile[]>();
  for (const file of files) {
    const key = `${file.kind} ${file.guest_path}`;
    const group = groups.get(key);
    if (group) group.push(file);
    else groups.set(key, [file]);
  }
  return [...groups.values()]
    .map((group) => [...group].sort((a, b) => b.version - a.version))
    .flatMap((versions) => (versions[0] ? [{ latest: versions[0], versions }] : []))
    .sort((a, b) => b.latest.created_at.localeCompare(a.latest.created_at));
}

export function versionsOf(file: ThreadFile, files: readonly ThreadFile[]): ThreadFile[] {
  return files
    .filter((other) => other.kind === file.kind && other.guest_path === file.guest_path)
    .sort((a, b) => b.version - a.version);
}
