import { toast } from "sonner";
import { useWorkspace } from "@/app/workspace";
import type { Thread } from "@/api/types";
import { UNDO_MS } from "./delayed-deletion";

/** Take a conversation away now, and delete it when nobody asked for it back. */
export function useDeleteThread(): (thread: Pick<Thread, "id" | "title">) => void {
  const { services, threadId, openThread } = useWorkspace();
  return ({ id, title }) => {
    services.deletions.schedule(id);
    const wasOpen = threadId === id;
    if (wasOpen) openThread(null);
    toast("Conversation deleted", {
      description: title,
      duration: UNDO_MS,
      action: {
        label: "Undo",
        onClick: () => {
          if (services.deletions.undo(id) && wasOpen) openThread(id);
        },
      },
    });
  };
}
