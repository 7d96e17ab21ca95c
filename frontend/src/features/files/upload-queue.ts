import { api, unwrap } from "@/api/client";
import { randomId } from "@/api/identifiers";
import type { ThreadFile } from "@/api/types";
import { sha256Of } from "./checksum";
import { putObject } from "./put-object";
import { refusalOf } from "./upload-checks";

export interface Upload {
  id: string;
  threadId: string;
  file: File;
  status: "waiting" | "sending" | "checking" | "done" | "failed" | "refused";
  /** 0 to 1. */
  progress: number;
  error: unknown;
  result: ThreadFile | null;
}

const PARALLEL = 3;

/** Uploads of every thread, in the order they were added. React reads it as an external store. */
export class UploadQueue {
  private uploads: readonly Upload[] = [];
  private readonly controllers = new Map<string, AbortController>();
  private readonly subscribers = new Set<() => void>();

  constructor(private readonly onUploaded: (file: ThreadFile) => void) {}

  readonly subscribe = (onChange: () => void): (() => void) => {
    this.subscribers.add(onChange);
    return () => this.subscribers.delete(onChange);
  };

  readonly getSnapshot = (): readonly Upload[] => this.uploads;

  add(threadId: string, files: readonly File[], maxBytes: number | null): void {
    const added = files.map((file): Upload => {
      const refusal = refusalOf(file, maxBytes);
      return {
        id: randomId(),
        threadId,
        file,
        status: refusal ? "refused" : "waiting",
        progress: 0,
        error: refusal ? new Error(refusal) : null,
        result: null,
      };
    });
    this.set([...this.uploads, ...added]);
    this.startWaiting();
  }

  retry(id: string): void {
    this.change(id, { status: "waiting", progress: 0, error: null });
    this.startWaiting();
  }

  /** Cancel an upload that is going on; take any other out of the list. */
  remove(id: string): void {
    this.controllers.get(id)?.abort();
    this.set(this.uploads.filter((upload) => upload.id !== id));
  }

  /** After they went out with a message. */
  clearDone(threadId: string): void {
    this.set(this.uploads.filter((upload) => upload.threadId !== threadId || upload.status !== "done"));
  }

  /** A file that was deleted is no attachment any more. */
  forgetFile(fileId: string): void {
    this.set(this.uploads.filter((upload) => upload.result?.id !== fileId));
  }

  private startWaiting(): void {
    const free = PARALLEL - this.controllers.size;
    for (const upload of this.uploads.filter(({ status }) => status === "waiting").slice(0, Math.max(0, free))) {
      void this.run(upload);
    }
  }

  private async run(upload: Upload): Promise<void> {
    const controller = new AbortController();
    this.controllers.set(upload.id, controller);
    this.change(upload.id, { status: "sending" });
    try {
      const result = await this.transfer(upload, controller.signal);
      this.change(upload.id, { status: "done", progress: 1, result });
      this.onUploaded(result);
    } catch (error) {
      if (!controller.signal.aborted) this.change(upload.id, { status: "failed", error });
    } finally {
      this.controllers.delete(upload.id);
      this.startWaiting();
    }
  }

  private async transfer(upload: Upload, signal: AbortSignal): Promise<ThreadFile> {
    const { file, threadId } = upload;
    const checksum = sha256Of(file);
    const presigned = await unwrap(
      api.POST("/api/files/presign-upload", {
        body: {
          thread_id: threadId,
          filename: file.name,
          content_type: file.type,
          size: file.size,
          purpose: "upload",
        },
        signal,
      }),
    );
    await putObject({
      url: presigned.url,
      headers: presigned.headers,
      body: file,
      signal,
      onProgress: (sent) => this.change(upload.id, { progress: Math.min(1, sent / file.size) }),
    });
    this.change(upload.id, { status: "checking", progress: 1 });
    return unwrap(
      api.POST("/api/files/complete-upload", {
        body: { thread_id: threadId, upload_id: presigned.upload_id, sha256: await checksum },
        signal,
      }),
    );
  }

  private change(id: string, change: Partial<Upload>): void {
    this.set(this.uploads.map((upload) => (upload.id === id ? { ...upload, ...change } : upload)));
  }

  private set(uploads: readonly Upload[]): void {
    this.uploads = uploads;
    for (const notify of this.subscribers) notify();
  }
}
