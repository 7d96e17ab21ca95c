import { parse as parsePartialJson } from "partial-json";
import type { Message, Run, ThreadFile } from "@/api/types";
import {
  attemptOf,
  interpret,
  isRecord,
  textOf,
  type MessageChunk,
  type StreamEvent,
  type ToolCallChunk,
  type WireEvent,
} from "./stream-events";

export interface ToolCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
}

interface StreamedToolCall extends ToolCall {
  index: number;
  argsText: string;
}

/** One message, whether it was loaded or is still being streamed. */
export interface ConversationMessage {
  id: string;
  type: "human" | "ai" | "tool";
  runId: string;
  text: string;
  createdAt: string | null;
  toolCalls: readonly ToolCall[];
  toolCallId: string | null;
  toolName: string | null;
  failed: boolean;
  exitCode: number | null;
  truncated: boolean;
  fileIds: readonly string[];
}

export interface Question {
  text: string;
  fileIds: readonly string[];
}

export interface ConversationState {
  /** What the server had when it was last asked, oldest first. */
  loaded: readonly ConversationMessage[];
  /** What the current stream brought beyond that, in order of arrival. */
  streamed: readonly ConversationMessage[];
  runs: Readonly<Record<string, Run>>;
  /** Files that the current stream announced. */
  artifacts: readonly ThreadFile[];
  /** A question that was sent and has no run yet. */
  pending: Question | null;
  activeRunId: string | null;
  failure: { code: string; message: string } | null;
  attempt: number;
  committed: ReadonlySet<string>;
  seen: ReadonlySet<string>;
}

export type ConversationAction =
  | { type: "loaded"; messages: readonly Message[]; runs: readonly Run[] }
  | { type: "sent"; question: Question }
  | { type: "rejected" }
  | { type: "joined"; run: Run }
  | { type: "run"; run: Run }
  | { type: "events"; events: readonly WireEvent[] };

export const EMPTY_CONVERSATION: ConversationState = {
  loaded: [],
  streamed: [],
  runs: {},
  artifacts: [],
  pending: null,
  activeRunId: null,
  failure: null,
  attempt: 1,
  committed: new Set(),
  seen: new Set(),
};

const MESSAGE_TYPES: Record<string, ConversationMessage["type"]> = {
  human: "human",
  ai: "ai",
  AIMessage: "ai",
  AIMessageChunk: "ai",
  tool: "tool",
  ToolMessage: "tool",
  ToolMessageChunk: "tool",
};

function artifactFacts(artifact: unknown): Pick<ConversationMessage, "exitCode" | "truncated"> {
  if (!isRecord(artifact)) return { exitCode: null, truncated: false };
  return {
    exitCode: typeof artifact.exit_code === "number" ? artifact.exit_code : null,
    truncated: artifact.truncated === true,
  };
}

export function messageFromApi(message: Message): ConversationMessage {
  return {
    id: message.id,
    type: MESSAGE_TYPES[message.type] ?? "ai",
    runId: message.run_id ?? "",
    text: message.content,
    createdAt: message.created_at,
    toolCalls: message.tool_calls.map((call, index) => ({
      id: call.id ?? `${message.id}:${index}`,
      name: call.name ?? "",
      args: call.args ?? {},
    })),
    toolCallId: message.tool_call_id ?? null,
    toolName: message.name ?? null,
    failed: message.status === "error",
    ...artifactFacts(message.artifact),
    fileIds: message.file_ids,
  };
}

function parseArguments(text: string): Record<string, unknown> {
  if (!text.trim()) return {};
  try {
    const value: unknown = parsePartialJson(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function mergeToolCallChunks(
  messageId: string,
  calls: readonly ToolCall[],
  chunks: readonly ToolCallChunk[],
): readonly ToolCall[] {
  const merged = calls.map((call, index): StreamedToolCall => ({ index, argsText: "", ...call }));
  for (const chunk of chunks) {
    const startsCall = Boolean(chunk.id) || Boolean(chunk.name);
    const index = chunk.index ?? Math.max(0, startsCall ? merged.length : merged.length - 1);
    let call = merged.find((candidate) => candidate.index === index);
    if (!call) {
      call = { index, id: "", name: "", argsText: "", args: {} };
      merged.push(call);
    }
    if (chunk.id) call.id = chunk.id;
    else if (!call.id) call.id = `${messageId}:${index}`;
    call.name += chunk.name ?? "";
    call.argsText += chunk.args ?? "";
  }
  for (const call of merged) if (call.argsText) call.args = parseArguments(call.argsText);
  return merged;
}

function wholeToolCalls(messageId: string, chunk: MessageChunk): readonly ToolCall[] {
  return (chunk.tool_calls ?? []).map((call, index) => ({
    id: call.id ?? `${messageId}:${index}`,
    name: call.name ?? "",
    args: call.args ?? {},
  }));
}

function messageFromChunk(chunk: MessageChunk, id: string, runId: string): ConversationMessage {
  const type = MESSAGE_TYPES[chunk.type] ?? "ai";
  const pieces = chunk.tool_call_chunks ?? [];
  return {
    id,
    type,
    runId,
    text: textOf(chunk.content),
    createdAt: null,
    toolCalls: pieces.length ? mergeToolCallChunks(id, [], pieces) : wholeToolCalls(id, chunk),
    toolCallId: chunk.tool_call_id ?? null,
    toolName: chunk.name ?? null,
    failed: chunk.status === "error",
    ...artifactFacts(chunk.artifact),
    fileIds: [],
  };
}

function isSame(message: ConversationMessage, id: string, toolCallId: string | null): boolean {
  if (message.id === id) return true;
  return message.type === "tool" && toolCallId !== null && message.toolCallId === toolCallId;
}

function appendChunk(state: ConversationState, chunk: MessageChunk): ConversationState {
  const runId = state.activeRunId;
  const id = chunk.id ?? chunk.tool_call_id;
  const type = MESSAGE_TYPES[chunk.type];
  if (!runId || !id || !type || type === "human") return state;
  const toolCallId = chunk.tool_call_id ?? null;
  // What a checkpoint holds is complete: a replay of it adds nothing.
  if (state.loaded.some((message) => isSame(message, id, toolCallId))) return state;
  const at = state.streamed.findIndex((message) => isSame(message, id, toolCallId));
  const current = state.streamed[at];
  if (!current) return { ...state, streamed: [...state.streamed, messageFromChunk(chunk, id, runId)] };
  const streamed = [...state.streamed];
  streamed[at] =
    chunk.type === "AIMessageChunk"
      ? {
          ...current,
          text: current.text + textOf(chunk.content),
          toolCalls: chunk.tool_call_chunks?.length
            ? mergeToolCallChunks(id, current.toolCalls, chunk.tool_call_chunks)
            : current.toolCalls,
        }
      : messageFromChunk(chunk, current.id, runId);
  return { ...state, streamed };
}

function withRun(state: ConversationState, run: Run): ConversationState {
  const runs = { ...state.runs, [run.id]: run };
  const known = state.loaded.some((message) => message.id === run.id);
  const inStream = state.streamed.some((message) => message.id === run.id);
  const question: ConversationMessage = {
    id: run.id,
    type: "human",
    runId: run.id,
    text: run.question,
    createdAt: run.created_at,
    toolCalls: [],
    toolCallId: null,
    toolName: null,
    failed: false,
    exitCode: null,
    truncated: false,
    fileIds: state.pending?.fileIds ?? [],
  };
  return {
    ...state,
    runs,
    pending: null,
    activeRunId: run.id,
    streamed: known || inStream ? state.streamed : [...state.streamed, question],
  };
}

function withEvent(state: ConversationState, event: StreamEvent): ConversationState {
  switch (event.kind) {
    case "run":
      return withRun(state, event.run);
    case "chunk":
      return appendChunk(state, event.chunk);
    case "committed":
      if (event.messageIds.length === 0) return state;
      return { ...state, committed: new Set([...state.committed, ...event.messageIds]) };
    case "artifact":
      return { ...state, artifacts: [...state.artifacts.filter(({ id }) => id !== event.file.id), event.file] };
    case "failure":
      return { ...state, failure: { code: event.code, message: event.message } };
    case "end":
      return { ...state, activeRunId: null };
    case "ignored":
      return state;
  }
}

/** A resumed run repeats the step that was interrupted: what that step had half said is dropped. */
function withAttempt(state: ConversationState, attempt: number): ConversationState {
  if (attempt <= state.attempt) return state;
  return {
    ...state,
    attempt,
    streamed: state.streamed.filter((message) => message.type === "human" || state.committed.has(message.id)),
  };
}

function keyOf(event: WireEvent): string {
  return `${event.event} ${event.id}`;
}

function withWireEvents(state: ConversationState, events: readonly WireEvent[]): ConversationState {
  const seen = new Set(state.seen);
  let next = state;
  for (const event of events) {
    const key = keyOf(event);
    if (event.id && seen.has(key)) continue;
    seen.add(key);
    next = withEvent(withAttempt(next, attemptOf(event.id)), interpret(event));
  }
  return { ...next, seen };
}

export function conversationReducer(state: ConversationState, action: ConversationAction): ConversationState {
  switch (action.type) {
    case "loaded": {
      const loaded = action.messages.map(messageFromApi);
      const runs = { ...state.runs };
      for (const run of action.runs) runs[run.id] = run;
      const streamed = state.streamed.filter(
        (message) =>
          message.runId === state.activeRunId &&
          !loaded.some((known) => isSame(known, message.id, message.toolCallId)),
      );
      return { ...state, loaded, streamed, runs };
    }
    case "sent":
      return { ...startOfStream(state), pending: action.question };
    case "rejected":
      return { ...state, pending: null };
    case "joined":
      return withRun(startOfStream(state), action.run);
    case "run":
      return { ...state, runs: { ...state.runs, [action.run.id]: action.run } };
    case "events":
      return withWireEvents(state, action.events);
  }
}

function startOfStream(state: ConversationState): ConversationState {
  return {
    ...state,
    failure: null,
    attempt: 1,
    committed: new Set(),
    seen: new Set(),
    activeRunId: null,
    artifacts: [],
  };
}
