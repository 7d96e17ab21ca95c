import { useEffect, useMemo, useSyncExternalStore } from "react";
import { useWorkspace } from "@/app/workspace";
import { useFiles } from "@/features/files/file-queries";
import type { ConversationController, ConversationSnapshot } from "./conversation-controller";
import { buildTurns, type Turn } from "./turns";

interface Conversation {
  controller: ConversationController;
  snapshot: ConversationSnapshot;
  turns: readonly Turn[];
  isRunning: boolean;
}

const NO_FILES: never[] = [];

export function useConversation(threadId: string): Conversation {
  const { services } = useWorkspace();
  const controller = services.controllerOf(threadId);
  useEffect(() => controller.start(), [controller]);
  const snapshot = useSyncExternalStore(controller.subscribe, controller.getSnapshot);
  const { data: files = NO_FILES } = useFiles(threadId);
  const turns = useMemo(() => buildTurns(snapshot.conversation, files), [snapshot.conversation, files]);
  return { controller, snapshot, turns, isRunning: snapshot.connection !== "idle" };
}
