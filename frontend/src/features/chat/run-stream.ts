import { createParser } from "eventsource-parser";
import { authorizedFetch } from "@/api/authorized-fetch";
import { ApiError, errorFromResponse } from "@/api/problem";
import type { WireEvent } from "./stream-events";

export type Connection = "open" | "reconnecting";

export interface StreamHandlers {
  onEvent: (event: WireEvent) => void;
  onConnection: (connection: Connection) => void;
}

/** How a stream is opened: the first time, and again after the event with that id. */
export type OpenStream = (lastEventId: string | null, signal: AbortSignal) => Promise<Response>;

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 8_000;
// Heartbeats come every 15 s: three missed ones mean that nobody is at the other end any more.
const SILENCE_MS = 45_000;

export function openChat(body: { thread_id: string; message: string; file_ids: string[] }, key: string): OpenStream {
  return (_lastEventId, signal) =>
    authorizedFetch(
      new Request("/api/chat/stream", {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "text/event-stream", "Idempotency-Key": key },
        body: JSON.stringify(body),
        signal,
      }),
    );
}

export function openRun(threadId: string, runId: string): OpenStream {
  return (lastEventId, signal) =>
    authorizedFetch(
      new Request(`/api/threads/${threadId}/runs/${runId}/stream`, {
        headers: { Accept: "text/event-stream", ...(lastEventId ? { "Last-Event-ID": lastEventId } : {}) },
        signal,
      }),
    );
}

/** As a call, because the loop around it makes the compiler believe that the flag cannot have changed. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

function isPermanent(error: unknown): boolean {
  return error instanceof ApiError && error.status < 500 && error.status !== 429;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    window.addEventListener("online", done);
    signal.addEventListener("abort", done);
  });
}

/** Read one response to its end, or until it falls silent. True when the stream said `end`. */
async function readEvents(
  response: Response,
  connection: AbortController,
  onEvent: (event: WireEvent) => void,
): Promise<boolean> {
  const progress = { ended: false };
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      onEvent({ id: id ?? "", event: event ?? "message", data });
      if (event === "end") progress.ended = true;
    },
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return false;
  let watchdog: ReturnType<typeof setTimeout> | undefined;
  const rewind = () => {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => connection.abort(), SILENCE_MS);
  };
  try {
    rewind();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return progress.ended;
      rewind();
      parser.feed(value);
      if (progress.ended) return true;
    }
  } finally {
    clearTimeout(watchdog);
    void reader.cancel().catch(() => undefined);
  }
}

/**
 * Follow a run until its stream says `end`, reconnecting after the last event seen whenever it breaks off.
 * `reopen` names the stream to rejoin as soon as the run is known. Rejects only when trying again cannot help.
 */
export async function followRun(
  open: OpenStream,
  reopen: () => OpenStream | null,
  handlers: StreamHandlers,
  signal: AbortSignal,
): Promise<void> {
  let lastEventId: string | null = null;
  let retry = FIRST_RETRY_MS;
  while (!isAborted(signal)) {
    const connection = new AbortController();
    const stop = () => connection.abort();
    signal.addEventListener("abort", stop);
    try {
      const response = await (reopen() ?? open)(lastEventId, connection.signal);
      if (!response.ok) throw await errorFromResponse(response);
      handlers.onConnection("open");
      const ended = await readEvents(response, connection, (event) => {
        retry = FIRST_RETRY_MS;
        if (event.id) lastEventId = event.id;
        handlers.onEvent(event);
      });
      if (ended) return;
    } catch (error) {
      if (isPermanent(error)) throw error;
    } finally {
      signal.removeEventListener("abort", stop);
    }
    if (isAborted(signal)) return;
    handlers.onConnection("reconnecting");
    await pause(retry, signal);
    retry = Math.min(retry * 2, LONGEST_RETRY_MS);
  }
}
