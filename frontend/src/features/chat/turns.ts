import { isActive, type Run, type RunStatus, type ThreadFile } from "@/api/types";
import type { ConversationMessage, ConversationState, ToolCall } from "./conversation-state";
import { buildSteps, newScriptShelf, planOf, type PlanItem, type Step } from "./steps";

export type Block =
  | { kind: "text"; id: string; text: string }
  | { kind: "steps"; id: string; steps: readonly Step[] }
  | { kind: "plan"; id: string; items: readonly PlanItem[] };

/** A question and everything that came of it. */
export interface Turn {
  id: string;
  question: { text: string; fileIds: readonly string[]; askedAt: string | null };
  blocks: readonly Block[];
  artifacts: readonly ThreadFile[];
  status: RunStatus | "sending";
  error: { code: string; message: string } | null;
  isLive: boolean;
}

type Draft = { kind: "text"; id: string; text: string } | { kind: "calls"; id: string; calls: ToolCall[] } | { kind: "plan"; id: string };

const ARTIFACT_ORDER: Partial<Record<ThreadFile["preview"], number>> = {
  "vega-lite": 0,
  image: 1,
  table: 2,
  html: 3,
};

function byRun(messages: readonly ConversationMessage[]): Map<string, ConversationMessage[]> {
  const groups = new Map<string, ConversationMessage[]>();
  for (const message of messages) {
    const group = groups.get(message.runId);
    if (group) group.push(message);
    else groups.set(message.runId, [message]);
  }
  return groups;
}

/** Chart files come first and a picture right after the interactive chart of the same name. */
export function sortArtifacts(files: readonly ThreadFile[]): ThreadFile[] {
  return [...files].sort(
    (a, b) =>
      (ARTIFACT_ORDER[a.preview] ?? 9) - (ARTIFACT_ORDER[b.preview] ?? 9) || a.created_at.localeCompare(b.created_at),
  );
}

function latestOfEachPath(files: readonly ThreadFile[]): ThreadFile[] {
  const latest = new Map<string, ThreadFile>();
  for (const file of files) {
    const held = latest.get(file.guest_path);
    if (!held || file.version > held.version) latest.set(file.guest_path, file);
  }
  return [...latest.values()];
}

function draftBlocks(messages: readonly ConversationMessage[]): { drafts: Draft[]; plan: PlanItem[] } {
  const drafts: Draft[] = [];
  let plan: PlanItem[] = [];
  for (const message of messages) {
    if (message.type !== "ai") continue;
    if (message.text.trim()) drafts.push({ kind: "text", id: message.id, text: message.text });
    for (const call of message.toolCalls) {
      if (call.name === "write_todos") {
        plan = planOf(call);
        if (!drafts.some((draft) => draft.kind === "plan")) drafts.push({ kind: "plan", id: call.id });
        continue;
      }
      const last = drafts.at(-1);
      if (last?.kind === "calls") last.calls.push(call);
      else drafts.push({ kind: "calls", id: call.id, calls: [call] });
    }
  }
  return { drafts, plan };
}

function buildBlocks(messages: readonly ConversationMessage[], isLive: boolean): Block[] {
  const results = new Map<string, ConversationMessage>();
  for (const message of messages) if (message.toolCallId) results.set(message.toolCallId, message);
  const { drafts, plan } = draftBlocks(messages);
  const shelf = newScriptShelf();
  return drafts.flatMap((draft): Block[] => {
    if (draft.kind === "text") return [draft];
    if (draft.kind === "plan") return plan.length ? [{ kind: "plan", id: draft.id, items: plan }] : [];
    return [{ kind: "steps", id: draft.id, steps: buildSteps(draft.calls, results, isLive, shelf) }];
  });
}

function errorOf(run: Run | undefined, state: ConversationState, isCurrent: boolean): Turn["error"] {
  return run?.error ?? (isCurrent ? state.failure : null);
}

function mergeFiles(files: readonly ThreadFile[], announced: readonly ThreadFile[]): ThreadFile[] {
  const known = new Set(files.map(({ id }) => id));
  return [...files, ...announced.filter(({ id }) => !known.has(id))];
}

/** The conversation as people see it, the same whether its messages were loaded or streamed. */
export function buildTurns(state: ConversationState, files: readonly ThreadFile[]): Turn[] {
  const groups = byRun([...state.loaded, ...state.streamed]);
  const allFiles = mergeFiles(files, state.artifacts);
  const lastRunId = [...groups.keys()].at(-1);
  const turns = [...groups].map(([runId, messages]): Turn => {
    const run = state.runs[runId];
    const isLive = state.activeRunId === runId && (run === undefined || isActive(run));
    const question = messages.find((message) => message.type === "human");
    const made = allFiles.filter((file) => file.kind === "artifact" && file.source_run_id === runId);
    return {
      id: runId,
      question: {
        text: question?.text ?? run?.question ?? "",
        fileIds: question?.fileIds ?? [],
        askedAt: question?.createdAt ?? run?.created_at ?? null,
      },
      blocks: buildBlocks(messages, isLive),
      artifacts: sortArtifacts(latestOfEachPath(made)),
      status: run?.status ?? "succeeded",
      error: errorOf(run, state, runId === lastRunId && !state.pending),
      isLive,
    };
  });
  if (state.pending) {
    turns.push({
      id: "pending",
      question: { text: state.pending.text, fileIds: state.pending.fileIds, askedAt: null },
      blocks: [],
      artifacts: [],
      status: "sending",
      error: null,
      isLive: true,
    });
  }
  return turns;
}
