import { UnreachableError } from "@/api/problem";

export class StorageRefusedError extends Error {
  override readonly name = "StorageRefusedError";
}

interface PutOptions {
  url: string;
  headers: Record<string, string>;
  body: Blob;
  signal: AbortSignal;
  onProgress: (sentBytes: number) => void;
}

/** The presigned PUT. XMLHttpRequest, because fetch does not tell how much of a body has been sent. */
export function putObject({ url, headers, body, signal, onProgress }: PutOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", url);
    for (const [name, value] of Object.entries(headers)) {
      if (name.toLowerCase() !== "content-length") request.setRequestHeader(name, value);
    }
    const abort = () => request.abort();
    signal.addEventListener("abort", abort, { once: true });
    request.upload.onprogress = (event) => onProgress(event.loaded);
    request.onload = () => {
      if (request.status >= 200 && request.status < 300) resolve();
      else reject(new StorageRefusedError(`The file store refused the upload (${request.status}).`));
    };
    request.onerror = () => reject(new UnreachableError("The file store cannot be reached"));
    request.onabort = () => reject(new DOMException("The upload was cancelled", "AbortError"));
    request.onloadend = () => signal.removeEventListener("abort", abort);
    request.send(body);
  });
}
