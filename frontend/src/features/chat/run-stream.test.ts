// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError, UnreachableError } from "@/api/problem";
import { followRun, type Connection, type OpenStream } from "./run-stream";
import type { WireEvent } from "./stream-events";

function sse(...events: [id: string, event: string][]): Response {
  const text = events.map(([id, event]) => `id: ${id}\nevent: ${event}\ndata: null\n\n`).join("");
  return new Response(`: heartbeat\n\n${text}`, { headers: { "Content-Type": "text/event-stream" } });
}

function listener() {
  const events: WireEvent[] = [];
  const connections: Connection[] = [];
  return {
    events,
    connections,
    onEvent: (event: WireEvent) => events.push(event),
    onConnection: (connection: Connection) => connections.push(connection),
  };
}

const refused: OpenStream = () => Promise.reject(new Error("must not be opened"));

describe("followRun", () => {
  beforeEach(() => vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 200 }));
  afterEach(() => vi.useRealTimers());

  it("ends when the stream says so", async () => {
    const heard = listener();
    await followRun(() => Promise.resolve(sse(["1:1", "run"], ["1:2", "end"])), () => null, heard, new AbortController().signal);
    expect(heard.events.map(({ id, event }) => [id, event])).toEqual([
      ["1:1", "run"],
      ["1:2", "end"],
    ]);
    expect(heard.connections).toEqual(["open"]);
  });

  it("rejoins after the last event when the stream breaks off", async () => {
    const heard = listener();
    const rejoinedAfter: (string | null)[] = [];
    const rejoin: OpenStream = (lastEventId) => {
      rejoinedAfter.push(lastEventId);
      return Promise.resolve(sse(["1:3", "messages"], ["1:4", "end"]));
    };
    let isKnown = false;
    const first: OpenStream = () => {
      isKnown = true;
      return Promise.resolve(sse(["1:1", "run"], ["1:2", "messages"]));
    };
    await followRun(first, () => (isKnown ? rejoin : null), heard, new AbortController().signal);
    expect(rejoinedAfter).toEqual(["1:2"]);
    expect(heard.events.map(({ id }) => id)).toEqual(["1:1", "1:2", "1:3", "1:4"]);
    expect(heard.connections).toEqual(["open", "reconnecting", "open"]);
  });

  it("tries again when nobody answers", async () => {
    const heard = listener();
    const answers = [
      () => Promise.reject(new UnreachableError("down")),
      () => Promise.resolve(new Response("{}", { status: 503 })),
      () => Promise.resolve(sse(["1:1", "end"])),
    ];
    await followRun(() => (answers.shift() ?? refused)(null, new AbortController().signal), () => null, heard, new AbortController().signal);
    expect(heard.connections).toEqual(["reconnecting", "reconnecting", "open"]);
  });

  it("gives up at once on a refusal", async () => {
    const refusal = Response.json({ code: "run_active", run_id: "r", detail: "busy" }, { status: 409 });
    const following = followRun(() => Promise.resolve(refusal), () => null, listener(), new AbortController().signal);
    await expect(following).rejects.toSatisfy((error) => error instanceof ApiError && error.code === "run_active" && error.problem.run_id === "r");
  });

  it("reads nothing more once it is told to stop", async () => {
    const stop = new AbortController();
    stop.abort();
    const heard = listener();
    await followRun(refused, () => null, heard, stop.signal);
    expect(heard.events).toEqual([]);
  });
});
