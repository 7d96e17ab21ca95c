import { ArrowDown } from "lucide-react";
import { useCallback, useEffect } from "react";
import { toast } from "sonner";
import { useWorkspace } from "@/app/workspace";
import { ApiError, explain } from "@/api/problem";
import { Button } from "@/components/ui/button";
import { ErrorNote } from "@/components/ui/error-note";
import { Skeleton } from "@/components/ui/skeleton";
import { useFiles } from "@/features/files/file-queries";
import { doneFileIds, useUploads } from "@/features/files/use-uploads";
import { Composer } from "./composer";
import { setDraft } from "./drafts";
import { FirstSteps } from "./first-steps";
import { TurnView } from "./turn-view";
import { useConversation } from "./use-conversation";
import { useStickToBottom } from "./use-stick-to-bottom";

const NO_FILES: never[] = [];

export function Conversation({ threadId }: { threadId: string }) {
  const { services, selectFile, openThread } = useWorkspace();
  const { controller, snapshot, turns, isRunning } = useConversation(threadId);
  const { data: files = NO_FILES } = useFiles(threadId);
  const uploads = useUploads(threadId);
  const { setViewport, setContent, isAway, scrollToEnd } = useStickToBottom();
  const { returned } = snapshot;

  const send = useCallback(
    (text: string) => {
      const fileIds = doneFileIds(services.uploads.getSnapshot(), threadId);
      services.uploads.clearDone(threadId);
      void controller.send({ text, fileIds });
      scrollToEnd();
    },
    [controller, services, threadId, scrollToEnd],
  );

  const stop = useCallback(() => {
    controller.stop().catch((error: unknown) => toast.error("It could not be stopped", { description: explain(error).happened }));
  }, [controller]);

  useEffect(() => {
    if (!returned) return;
    setDraft(threadId, returned.question.text);
    toast.error("The message was not sent", { description: `${explain(returned.error).happened} It is back in the box.` });
    controller.dismissReturned();
  }, [returned, threadId, controller]);

  if (snapshot.load.status === "failed" && isMissing(snapshot.load.error)) {
    return <MissingConversation error={snapshot.load.error} onLeave={() => openThread(null)} />;
  }
  const isEmpty = snapshot.load.status === "ready" && turns.length === 0;
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="relative min-h-0 flex-1">
        <div ref={setViewport} className="h-full overflow-y-auto overscroll-contain">
          <div ref={setContent} className="mx-auto w-full max-w-[792px] px-4 pt-2 pb-6">
            {snapshot.load.status === "failed" && (
              <ErrorNote error={snapshot.load.error} onRetry={() => void controller.load()} className="my-4" />
            )}
            {snapshot.load.status === "loading" && turns.length === 0 && <ConversationSkeleton />}
            {isEmpty && <FirstSteps onAsk={send} isUploading={uploads.length > 0} />}
            {turns.map((turn, index) => (
              <TurnView
                key={turn.id}
                turn={turn}
                files={files}
                isLast={index === turns.length - 1}
                onOpenFile={selectFile}
                onAsk={send}
              />
            ))}
          </div>
        </div>
        {isAway && (
          <Button
            size="sm"
            onClick={scrollToEnd}
            className="absolute bottom-2 left-1/2 -translate-x-1/2 rounded-full bg-raised"
          >
            <ArrowDown aria-hidden /> Latest
          </Button>
        )}
      </div>
      <div className="mx-auto w-full max-w-[792px] px-4 pb-4">
        <p role="status" aria-live="polite" className="h-5 px-1 text-xs text-ink-3">
          {snapshot.connection === "reconnecting" && "Reconnecting… the analysis goes on meanwhile."}
          {snapshot.isStopping && "Stopping…"}
        </p>
        <Composer
          isRunning={isRunning}
          isStopping={snapshot.isStopping}
          placeholder={turns.length > 0 ? "Ask a follow-up" : "Ask about your data"}
          onSend={send}
          onStop={stop}
        />
      </div>
    </div>
  );
}

function isMissing(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 404 || error.status === 422);
}

function MissingConversation({ error, onLeave }: { error: unknown; onLeave: () => void }) {
  return (
    <div className="mx-auto w-full max-w-[792px] px-4 pt-6">
      <ErrorNote error={error} onRetry={onLeave} retryLabel="Begin a new one" />
    </div>
  );
}

function ConversationSkeleton() {
  return (
    <div role="status" aria-label="Loading the conversation" className="flex flex-col gap-3 py-6">
      <Skeleton className="ml-auto h-9 w-2/5 rounded-xl" />
      <Skeleton className="mt-3 h-4 w-1/3" />
      <Skeleton className="h-4 w-4/5" />
      <Skeleton className="h-4 w-3/5" />
      <Skeleton className="mt-2 h-56 w-full rounded-md" />
    </div>
  );
}
