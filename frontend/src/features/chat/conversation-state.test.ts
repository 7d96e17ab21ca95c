import { describe, expect, it } from "vitest";
import { eventsOfAttempt, fileOf, messageOf, runOf, storedMessages, streamedEvents, ANSWER } from "./conversation-samples";
import { conversationReducer, EMPTY_CONVERSATION, type ConversationAction, type ConversationState } from "./conversation-state";
import { buildTurns } from "./turns";

function after(...actions: ConversationAction[]): ConversationState {
  return actions.reduce(conversationReducer, EMPTY_CONVERSATION);
}

const SENT: ConversationAction = { type: "sent", question: { text: "Chart revenue by month", fileIds: ["up-1"] } };
const LOADED: ConversationAction = {
  type: "loaded",
  messages: storedMessages(),
  runs: [runOf({ status: "succeeded" })],
};

function answerOf(state: ConversationState): string {
  return [...state.loaded, ...state.streamed].filter(({ type }) => type === "ai").at(-1)?.text ?? "";
}

describe("conversationReducer", () => {
  it("shows a streamed run exactly as the loaded one", () => {
    const streamed = after(SENT, { type: "events", events: streamedEvents() });
    const loaded = after(LOADED);
    expect(buildTurns(streamed, [fileOf()])).toEqual(buildTurns(loaded, [fileOf()]));
  });

  it("changes nothing on the screen when the ended run is loaded over its stream", () => {
    const streamed = after(SENT, { type: "events", events: streamedEvents() });
    const reloaded = conversationReducer(streamed, LOADED);
    expect(reloaded.streamed).toEqual([]);
    expect(buildTurns(reloaded, [fileOf()])).toEqual(buildTurns(streamed, [fileOf()]));
  });

  it("is the same whether events come one by one or in batches", () => {
    const events = streamedEvents();
    const single = events.reduce<ConversationState>(
      (state, event) => conversationReducer(state, { type: "events", events: [event] }),
      after(SENT),
    );
    const batched = after(SENT, { type: "events", events });
    expect(single).toEqual(batched);
  });

  it("shows each event once when a rejoined stream repeats some", () => {
    const events = streamedEvents();
    const dropped = after(SENT, { type: "events", events: events.slice(0, 13) });
    const rejoined = conversationReducer(dropped, { type: "events", events: events.slice(5) });
    expect(rejoined).toEqual(after(SENT, { type: "events", events }));
    expect(answerOf(rejoined)).toBe(ANSWER);
  });

  it("adds nothing when a replay brings messages that a checkpoint already held", () => {
    const checkpoint = storedMessages().slice(0, 3);
    const joined = after(
      { type: "loaded", messages: checkpoint, runs: [runOf()] },
      { type: "joined", run: runOf() },
      { type: "events", events: streamedEvents() },
    );
    expect([...joined.loaded, ...joined.streamed].filter(({ id }) => id === "ai-1")).toHaveLength(1);
    expect(buildTurns(joined, [fileOf()])).toEqual(buildTurns(after(LOADED), [fileOf()]));
  });

  it("drops what an interrupted step had half said when the run is resumed", () => {
    const first = eventsOfAttempt(1)
      .add("run", { run: runOf() })
      .text("ai-1", "A finished thought.")
      .add("updates", { model: { messages: [{ id: "ai-1" }] } })
      .text("ai-2", "A half-said th");
    const second = eventsOfAttempt(2).add("run", { run: runOf() }, ":running").text("ai-9", "The whole thought.");
    const state = after(SENT, { type: "events", events: [...first.events, ...second.events] });
    expect(state.streamed.filter(({ type }) => type === "ai").map(({ text }) => text)).toEqual([
      "A finished thought.",
      "The whole thought.",
    ]);
  });

  it("keeps a subagent's talk out of the conversation", () => {
    const state = after(SENT, { type: "events", events: streamedEvents() });
    expect(JSON.stringify(buildTurns(state, []))).not.toContain("subagent");
  });

  it("shows the question at once, before the server has answered", () => {
    const [turn] = buildTurns(after(SENT), []);
    expect(turn).toMatchObject({ status: "sending", isLive: true, question: { text: "Chart revenue by month", fileIds: ["up-1"] } });
  });

  it("takes a question back that was not accepted", () => {
    expect(buildTurns(after(SENT, { type: "rejected" }), [])).toEqual([]);
  });

  it("reads arguments while they are still on their way", () => {
    const events = eventsOfAttempt(1)
      .add("run", { run: runOf() })
      .add("messages", [
        { type: "AIMessageChunk", id: "ai-1", content: "", tool_call_chunks: [{ index: 0, id: "c", name: "write_file", args: '{"file_path": "/workspace/a.py", "content": "import pan' }] },
        {},
      ]).events;
    const state = after(SENT, { type: "events", events });
    expect(state.streamed.at(-1)?.toolCalls[0]?.args).toEqual({ file_path: "/workspace/a.py", content: "import pan" });
  });

  it("keeps parallel tool calls apart by their index", () => {
    const chunk = (index: number, piece: Record<string, unknown>) => [
      { type: "AIMessageChunk", id: "ai-1", content: "", tool_call_chunks: [{ index, id: null, name: null, args: null, ...piece }] },
      {},
    ];
    const events = eventsOfAttempt(1)
      .add("run", { run: runOf() })
      .add("messages", chunk(0, { id: "a", name: "read_file" }))
      .add("messages", chunk(1, { id: "b", name: "read_file" }))
      .add("messages", chunk(1, { args: '{"file_path": "/uploads/two.csv"}' }))
      .add("messages", chunk(0, { args: '{"file_path": "/uploads/one.csv"}' })).events;
    const calls = after(SENT, { type: "events", events }).streamed.at(-1)?.toolCalls;
    expect(calls?.map(({ id, args }) => [id, args.file_path])).toEqual([
      ["a", "/uploads/one.csv"],
      ["b", "/uploads/two.csv"],
    ]);
  });

  it("replaces a message by its whole form instead of appending it", () => {
    const events = eventsOfAttempt(1)
      .add("run", { run: runOf() })
      .text("ai-1", "Hel")
      .add("messages", [{ type: "ai", id: "ai-1", content: "Hello", tool_calls: [] }, {}]).events;
    expect(answerOf(after(SENT, { type: "events", events }))).toBe("Hello");
  });

  it("joins text blocks of a message and leaves other blocks out", () => {
    const events = eventsOfAttempt(1)
      .add("run", { run: runOf() })
      .add("messages", [{ type: "AIMessageChunk", id: "ai-1", content: [{ type: "reasoning", text: "hm" }, { type: "text", text: "Hi" }] }, {}]).events;
    expect(answerOf(after(SENT, { type: "events", events }))).toBe("Hi");
  });

  it("survives events that it cannot read", () => {
    const odd = [
      { id: "1:1", event: "messages", data: "{not json" },
      { id: "1:2", event: "messages", data: '{"no": "tuple"}' },
      { id: "1:3", event: "run", data: "null" },
      { id: "1:4", event: "something-new", data: "{}" },
    ];
    expect(buildTurns(after({ type: "events", events: odd }), [])).toEqual([]);
  });

  it("keeps the streamed words when loading them again fails to bring them", () => {
    const streamed = after(SENT, { type: "events", events: streamedEvents().slice(0, -1) });
    const stale = conversationReducer(streamed, { type: "loaded", messages: [messageOf({ id: "run-1", type: "human" })], runs: [] });
    expect(answerOf(stale)).toBe(ANSWER);
  });
});
