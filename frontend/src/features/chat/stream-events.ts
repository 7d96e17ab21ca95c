import * as v from "valibot";
import type { Run, ThreadFile } from "@/api/types";

/** One server-sent event as it came over the wire; `data` is still JSON text. */
export interface WireEvent {
  id: string;
  event: string;
  data: string;
}

const contentSchema = v.union([
  v.string(),
  v.array(v.union([v.string(), v.looseObject({ type: v.optional(v.string()), text: v.optional(v.string()) })])),
]);

const toolCallChunkSchema = v.object({
  index: v.nullish(v.number()),
  id: v.nullish(v.string()),
  name: v.nullish(v.string()),
  args: v.nullish(v.string()),
});

const toolCallSchema = v.object({
  id: v.nullish(v.string()),
  name: v.nullish(v.string()),
  args: v.nullish(v.record(v.string(), v.unknown())),
});

const chunkSchema = v.object({
  type: v.string(),
  id: v.nullish(v.string()),
  content: v.optional(v.nullable(contentSchema), ""),
  tool_calls: v.nullish(v.array(toolCallSchema)),
  tool_call_chunks: v.nullish(v.array(toolCallChunkSchema)),
  tool_call_id: v.nullish(v.string()),
  name: v.nullish(v.string()),
  status: v.nullish(v.string()),
  artifact: v.nullish(v.unknown()),
});

const metadataSchema = v.looseObject({ lc_source: v.optional(v.unknown()) });
const messagesSchema = v.tuple([chunkSchema, v.optional(metadataSchema, {})]);

// The backend's own events are typed by its OpenAPI document; here only what tells them apart is checked.
const runSchema = v.object({
  run: v.custom<Run>((value) => isRecord(value) && typeof value.id === "string" && typeof value.status === "string"),
});
const artifactSchema = v.object({
  file: v.custom<ThreadFile>(
    (value) => isRecord(value) && typeof value.id === "string" && typeof value.filename === "string",
  ),
});
const errorSchema = v.object({ code: v.optional(v.string(), "unknown"), message: v.optional(v.nullable(v.string()), "") });
const updatesSchema = v.record(v.string(), v.unknown());
const updateMessagesSchema = v.looseObject({ messages: v.array(v.looseObject({ id: v.nullish(v.string()) })) });

export type MessageChunk = v.InferOutput<typeof chunkSchema>;
export type ToolCallChunk = v.InferOutput<typeof toolCallChunkSchema>;

export type StreamEvent =
  | { kind: "run"; run: Run }
  | { kind: "chunk"; chunk: MessageChunk }
  | { kind: "committed"; messageIds: string[] }
  | { kind: "artifact"; file: ThreadFile }
  | { kind: "failure"; code: string; message: string }
  | { kind: "end" }
  | { kind: "ignored" };

const IGNORED: StreamEvent = { kind: "ignored" };

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function committedIds(data: unknown): string[] {
  const nodes = v.safeParse(updatesSchema, data);
  if (!nodes.success) return [];
  return Object.values(nodes.output).flatMap((update) => {
    const parsed = v.safeParse(updateMessagesSchema, update);
    return parsed.success ? parsed.output.messages.flatMap((message) => message.id ?? []) : [];
  });
}

/** What a wire event means to the conversation. A subagent's own talk (`messages|tools:…`) is not part of it. */
export function interpret(event: WireEvent): StreamEvent {
  const data = parseJson(event.data);
  switch (event.event) {
    case "run": {
      const parsed = v.safeParse(runSchema, data);
      return parsed.success ? { kind: "run", run: parsed.output.run } : IGNORED;
    }
    case "messages": {
      const parsed = v.safeParse(messagesSchema, data);
      if (!parsed.success || parsed.output[1].lc_source === "summarization") return IGNORED;
      return { kind: "chunk", chunk: parsed.output[0] };
    }
    case "updates":
      return { kind: "committed", messageIds: committedIds(data) };
    case "artifact": {
      const parsed = v.safeParse(artifactSchema, data);
      return parsed.success ? { kind: "artifact", file: parsed.output.file } : IGNORED;
    }
    case "error": {
      const parsed = v.safeParse(errorSchema, data);
      return parsed.success
        ? { kind: "failure", code: parsed.output.code, message: parsed.output.message ?? "" }
        : IGNORED;
    }
    case "end":
      return { kind: "end" };
    default:
      return IGNORED;
  }
}

/** Plain text of LangChain content: a string, or blocks of which the text ones count. */
export function textOf(content: MessageChunk["content"]): string {
  if (content === null) return "";
  if (typeof content === "string") return content;
  return content
    .map((block) => {
      if (typeof block === "string") return block;
      return block.type === undefined || block.type === "text" ? (block.text ?? "") : "";
    })
    .join("");
}

/** The run's attempt that an event belongs to; a resumed run counts on. Ids look like `{attempt}:{position}`. */
export function attemptOf(eventId: string): number {
  const attempt = Number.parseInt(eventId, 10);
  return Number.isNaN(attempt) ? 1 : attempt;
}
