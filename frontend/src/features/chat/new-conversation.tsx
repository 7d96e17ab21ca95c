import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { toast } from "sonner";
import { explain } from "@/api/problem";
import { useWorkspace } from "@/app/workspace";
import { Composer } from "./composer";
import { setDraft } from "./drafts";
import { FirstSteps } from "./first-steps";
import { fileKeys } from "@/features/files/file-queries";

/** The page without a thread: the first message or file makes one. */
export function NewConversation() {
  const { services, ensureThread } = useWorkspace();
  const client = useQueryClient();
  const [isCreating, setIsCreating] = useState(false);

  async function ask(text: string) {
    setIsCreating(true);
    try {
      const threadId = await ensureThread();
      client.setQueryData(fileKeys.list(threadId), []);
      await services.controllerOf(threadId).send({ text, fileIds: [] });
    } catch (error) {
      setDraft("new", text);
      toast.error("The message was not sent", { description: `${explain(error).happened} It is back in the box.` });
    } finally {
      setIsCreating(false);
    }
  }

  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto w-full max-w-[792px] px-4">
          <FirstSteps onAsk={(text) => void ask(text)} isUploading={isCreating} />
        </div>
      </div>
      <div className="mx-auto w-full max-w-[792px] px-4 pb-4">
        <Composer
          isRunning={false}
          isStopping={false}
          placeholder="Ask about your data"
          onSend={(text) => void ask(text)}
          onStop={() => undefined}
        />
      </div>
    </div>
  );
}
