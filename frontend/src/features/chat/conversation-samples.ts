import type { Message, Run, ThreadFile } from "@/api/types";
import type { WireEvent } from "./stream-events";

/** Builders for the tests of this folder. */

export function runOf(change: Partial<Run> = {}): Run {
  return {
    id: "run-1",
    thread_id: "thread-1",
    status: "running",
    question: "Chart revenue by month",
    model: "offline",
    error: null,
    usage: { input_tokens: 0, output_tokens: 0 },
    cost: null,
    created_at: "2026-01-05T10:00:00Z",
    started_at: "2026-01-05T10:00:00Z",
    finished_at: null,
    ...change,
  };
}

export function fileOf(change: Partial<ThreadFile> = {}): ThreadFile {
  return {
    id: "file-1",
    thread_id: "thread-1",
    kind: "artifact",
    filename: "chart.png",
    guest_path: "/artifacts/chart.png",
    content_type: "image/png",
    size: 1200,
    sha256: "0".repeat(64),
    version: 1,
    created_by: "agent",
    source_run_id: "run-1",
    created_at: "2026-01-05T10:00:05Z",
    preview: "image",
    ...change,
  };
}

export function messageOf(change: Partial<Message> & Pick<Message, "id" | "type">): Message {
  return {
    content: "",
    run_id: "run-1",
    created_at: null,
    tool_calls: [],
    tool_call_id: null,
    name: null,
    status: null,
    artifact: null,
    file_ids: [],
    usage: null,
    ...change,
  };
}

export const SCRIPT_PATH = "/workspace/analysis/01_revenue.py";
export const SCRIPT = "import pandas as pd\nprint(1)\n";
export const ANSWER = "**Revenue grew** from 42 k to 92 k.";

/** What the server keeps of one finished run. */
export function storedMessages(): Message[] {
  return [
    messageOf({ id: "run-1", type: "human", content: "Chart revenue by month", created_at: "2026-01-05T10:00:00Z", file_ids: ["up-1"] }),
    messageOf({
      id: "ai-1",
      type: "ai",
      content: "Let me look.",
      tool_calls: [{ id: "call-1", name: "write_file", args: { file_path: SCRIPT_PATH, content: SCRIPT } }],
    }),
    messageOf({ id: "tool-1", type: "tool", tool_call_id: "call-1", name: "write_file", content: "Updated file", status: "success" }),
    messageOf({
      id: "ai-2",
      type: "ai",
      tool_calls: [{ id: "call-2", name: "execute", args: { command: `python ${SCRIPT_PATH}` } }],
    }),
    messageOf({
      id: "tool-2",
      type: "tool",
      tool_call_id: "call-2",
      name: "execute",
      content: "total 92\n[Command succeeded with exit code 0]",
      status: "success",
      artifact: { exit_code: 0, truncated: false },
    }),
    messageOf({ id: "ai-3", type: "ai", content: ANSWER }),
  ];
}

class EventWriter {
  private position = 0;
  readonly events: WireEvent[] = [];

  constructor(private readonly attempt = 1) {}

  add(event: string, data: unknown, word = ""): this {
    this.position += 1;
    this.events.push({ id: `${this.attempt}:${this.position}${word}`, event, data: JSON.stringify(data) });
    return this;
  }

  text(id: string, ...pieces: string[]): this {
    for (const content of pieces) this.add("messages", [{ type: "AIMessageChunk", id, content, tool_call_chunks: [] }, {}]);
    return this;
  }

  call(messageId: string, callId: string, name: string, args: Record<string, unknown>): this {
    const text = JSON.stringify(args);
    const half = Math.floor(text.length / 2);
    const chunk = (piece: Record<string, unknown>) =>
      this.add("messages", [{ type: "AIMessageChunk", id: messageId, content: "", tool_call_chunks: [{ index: 0, ...piece }] }, {}]);
    chunk({ id: callId, name, args: "" });
    chunk({ id: null, name: null, args: text.slice(0, half) });
    chunk({ id: null, name: null, args: text.slice(half) });
    return this;
  }

  result(id: string, callId: string, name: string, content: string, artifact: unknown = null): this {
    return this.add("messages", [{ type: "tool", id, content, tool_call_id: callId, name, status: "success", artifact }, {}]);
  }
}

export function eventsOfAttempt(attempt: number): EventWriter {
  return new EventWriter(attempt);
}

/** The same run as `storedMessages`, as it is streamed. */
export function streamedEvents(): WireEvent[] {
  return new EventWriter()
    .add("run", { run: runOf() }, ":running")
    .add("metadata", { run_id: "run-1" })
    .text("ai-1", "Let me ", "look.")
    .call("ai-1", "call-1", "write_file", { file_path: SCRIPT_PATH, content: SCRIPT })
    .add("updates", { model: { messages: [{ id: "ai-1" }] } })
    .result("tool-1", "call-1", "write_file", "Updated file")
    .call("ai-2", "call-2", "execute", { command: `python ${SCRIPT_PATH}` })
    .result("tool-2", "call-2", "execute", "total 92\n[Command succeeded with exit code 0]", { exit_code: 0, truncated: false })
    .add("artifact", { file: fileOf(), run_id: "run-1" })
    .add("messages|tools:abc", [{ type: "AIMessageChunk", id: "sub-1", content: "a subagent thinks aloud" }, {}])
    .text("ai-3", "**Revenue ", "grew** from ", "42 k to 92 k.")
    .add("run", { run: runOf({ status: "succeeded" }) }, ":succeeded")
    .add("end", null, ":end").events;
}
