import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { createContext, useCallback, useContext, useEffect, useMemo, useState, type ReactNode } from "react";
import { toast } from "sonner";
import { useLocation, useSearchParams } from "wouter";
import { explain } from "@/api/problem";
import { isActive, type Run, type Thread, type ThreadFile } from "@/api/types";
import { useMeta } from "@/features/auth/session";
import { ConversationController } from "@/features/chat/conversation-controller";
import { addFileToCache, fileKeys } from "@/features/files/file-queries";
import { UploadQueue } from "@/features/files/upload-queue";
import { DelayedDeletion } from "@/features/threads/delayed-deletion";
import { createThread, deleteThread, threadKeys } from "@/features/threads/thread-queries";
import { useIsWide } from "./media";
import { PreviewChoice } from "./preview-choice";

const KEPT_CONTROLLERS = 8;

/** What outlives a change of the thread: running streams, uploads, deletions that can still be undone. */
class WorkspaceServices {
  readonly uploads: UploadQueue;
  readonly deletions: DelayedDeletion;
  readonly previewChoice = new PreviewChoice();
  private readonly controllers = new Map<string, ConversationController>();

  constructor(private readonly client: QueryClient) {
    this.uploads = new UploadQueue((file) => addFileToCache(client, file));
    this.deletions = new DelayedDeletion(
      async (id, leaving) => {
        await deleteThread(id, { keepalive: leaving });
        this.forget(id);
        void client.invalidateQueries({ queryKey: threadKeys.all });
      },
      (_id, error) => toast.error("The conversation was not deleted", { description: explain(error).happened }),
    );
  }

  controllerOf(threadId: string): ConversationController {
    const known = this.controllers.get(threadId);
    if (known) return known;
    const controller = new ConversationController(threadId, {
      onArtifact: (file) => {
        addFileToCache(this.client, file);
        this.previewChoice.offer(file);
      },
      onRun: (run) => this.noteRun(run),
      onSettled: () => this.refreshThread(threadId),
    });
    this.controllers.set(threadId, controller);
    this.dropOldest();
    return controller;
  }

  dispose(): void {
    this.deletions.flush();
    for (const controller of this.controllers.values()) controller.dispose();
    this.controllers.clear();
  }

  private noteRun(run: Run): void {
    const active_run = isActive(run) ? run : null;
    this.client.setQueryData<Thread>(threadKeys.one(run.thread_id), (thread) => thread && { ...thread, active_run });
    if (run.status === "queued" || run.status === "running") {
      this.previewChoice.beginRun(run.thread_id, run.id);
      void this.client.invalidateQueries({ queryKey: threadKeys.all });
      void this.client.invalidateQueries({ queryKey: threadKeys.one(run.thread_id) });
    }
  }

  private refreshThread(threadId: string): void {
    void this.client.invalidateQueries({ queryKey: threadKeys.all });
    void this.client.invalidateQueries({ queryKey: threadKeys.one(threadId) });
    void this.client.invalidateQueries({ queryKey: fileKeys.list(threadId) });
  }

  private forget(threadId: string): void {
    this.controllers.get(threadId)?.dispose();
    this.controllers.delete(threadId);
  }

  private dropOldest(): void {
    for (const [id, controller] of this.controllers) {
      if (this.controllers.size <= KEPT_CONTROLLERS) return;
      if (!controller.isBusy) this.forget(id);
    }
  }
}

/** What a narrow screen shows. */
export type NarrowView = "chat" | "files" | "preview";

export interface Workspace {
  services: WorkspaceServices;
  threadId: string | null;
  selectedFileId: string | null;
  narrowView: NarrowView;
  setNarrowView: (view: NarrowView) => void;
  openThread: (threadId: string | null) => void;
  /** The person's own choice; null closes the preview. */
  selectFile: (fileId: string | null) => void;
  /** The open thread, or a new one that is then open. */
  ensureThread: () => Promise<string>;
  addFiles: (files: readonly File[]) => Promise<void>;
}

const WorkspaceContext = createContext<Workspace | null>(null);

export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (!workspace) throw new Error("useWorkspace outside of WorkspaceProvider");
  return workspace;
}

export function WorkspaceProvider({ threadId, children }: { threadId: string | null; children: ReactNode }) {
  const client = useQueryClient();
  const meta = useMeta();
  const [, navigate] = useLocation();
  const [search, setSearch] = useSearchParams();
  const [services] = useState(() => new WorkspaceServices(client));
  const [narrowView, setNarrowView] = useState<NarrowView>("chat");
  const isWide = useIsWide();
  const maxBytes = meta.data?.limits.upload_max_bytes ?? null;
  const selectedFileId = search.get("file");

  useEffect(() => {
    const flush = () => services.deletions.flush();
    window.addEventListener("pagehide", flush);
    return () => {
      window.removeEventListener("pagehide", flush);
      services.dispose();
    };
  }, [services]);

  const show = useCallback(
    (fileId: string | null) =>
      setSearch(
        (current) => {
          const next = new URLSearchParams(current);
          if (fileId) next.set("file", fileId);
          else next.delete("file");
          return next;
        },
        { replace: true },
      ),
    [setSearch],
  );

  useEffect(
    () =>
      services.previewChoice.listen((file: ThreadFile) => {
        // Where the preview covers the conversation, it opens only when asked for.
        if (file.thread_id === threadId && isWide) show(file.id);
      }),
    [services, threadId, show, isWide],
  );

  const workspace = useMemo<Workspace>(() => {
    const openThread = (id: string | null) => {
      setNarrowView("chat");
      navigate(id ? `/t/${id}` : "/");
    };
    const ensureThread = async () => {
      if (threadId) return threadId;
      const thread = await createThread(client);
      openThread(thread.id);
      return thread.id;
    };
    return {
      services,
      threadId,
      selectedFileId,
      openThread,
      ensureThread,
      selectFile: (fileId) => {
        if (threadId) services.previewChoice.chosenByPerson(threadId);
        setNarrowView(fileId ? "preview" : "chat");
        show(fileId);
      },
      narrowView,
      setNarrowView,
      addFiles: async (files) => {
        if (files.length === 0) return;
        try {
          services.uploads.add(await ensureThread(), files, maxBytes);
        } catch (error) {
          toast.error("The upload did not start", { description: explain(error).happened });
        }
      },
    };
  }, [services, threadId, selectedFileId, narrowView, navigate, client, show, maxBytes]);

  return <WorkspaceContext value={workspace}>{children}</WorkspaceContext>;
}
