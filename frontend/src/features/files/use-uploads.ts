import { useMemo, useSyncExternalStore } from "react";
import { useWorkspace } from "@/app/workspace";
import type { Upload } from "./upload-queue";

/** The uploads of a thread that have not gone out with a message. */
export function useUploads(threadId: string | null): readonly Upload[] {
  const { services } = useWorkspace();
  const all = useSyncExternalStore(services.uploads.subscribe, services.uploads.getSnapshot);
  return useMemo(() => all.filter((upload) => upload.threadId === threadId), [all, threadId]);
}

export function doneFileIds(uploads: readonly Upload[], threadId: string): string[] {
  return uploads.flatMap(({ threadId: owner, result }) => (owner === threadId && result ? [result.id] : []));
}
