import { api, unwrap } from "@/api/client";
import { randomId } from "@/api/identifiers";
import { ApiError } from "@/api/problem";
import { isActive, type Message, type Run, type ThreadFile } from "@/api/types";
import {
  conversationReducer,
  EMPTY_CONVERSATION,
  type ConversationAction,
  type ConversationState,
  type Question,
} from "./conversation-state";
import { followRun, openChat, openRun, type Connection, type OpenStream } from "./run-stream";
import { interpret, type WireEvent } from "./stream-events";

export interface ConversationSnapshot {
  conversation: ConversationState;
  load: { status: "loading" | "ready" } | { status: "failed"; error: unknown };
  /** "idle" when nothing runs. */
  connection: "idle" | "connecting" | Connection;
  isStopping: boolean;
  /** A question that was not accepted: it goes back to the composer. */
  returned: { question: Question; error: unknown } | null;
}

export interface ConversationListener {
  onArtifact: (file: ThreadFile) => void;
  onRun: (run: Run) => void;
  onSettled: () => void;
}

const FLUSH_MS = 32;

async function fetchHistory(threadId: string): Promise<{ messages: Message[]; runs: Run[] }> {
  const params = { path: { thread_id: threadId } };
  const [messages, runs] = await Promise.all([
    unwrap(api.GET("/api/threads/{thread_id}/messages", { params })),
    unwrap(api.GET("/api/threads/{thread_id}/runs", { params })),
  ]);
  return { messages: messages.items, runs: runs.items };
}

/** One thread's conversation: loads it, sends questions, follows runs. React reads it as an external store. */
export class ConversationController {
  private snapshot: ConversationSnapshot = {
    conversation: EMPTY_CONVERSATION,
    load: { status: "loading" },
    connection: "idle",
    isStopping: false,
    returned: null,
  };
  private readonly subscribers = new Set<() => void>();
  private queue: WireEvent[] = [];
  private flushTimer: ReturnType<typeof setTimeout> | null = null;
  private stream: AbortController | null = null;
  private started = false;

  constructor(
    readonly threadId: string,
    private readonly listener: ConversationListener,
  ) {}

  readonly subscribe = (onChange: () => void): (() => void) => {
    this.subscribers.add(onChange);
    return () => this.subscribers.delete(onChange);
  };

  readonly getSnapshot = (): ConversationSnapshot => this.snapshot;

  get isBusy(): boolean {
    return this.stream !== null;
  }

  start(): void {
    if (this.started) return;
    this.started = true;
    void this.load();
  }

  async load(): Promise<void> {
    try {
      const history = await fetchHistory(this.threadId);
      this.dispatch({ type: "loaded", ...history });
      this.set({ load: { status: "ready" } });
      const active = history.runs.find(isActive);
      if (active && !this.isBusy) void this.join(active);
    } catch (error) {
      this.set({ load: { status: "failed", error } });
    }
  }

  async send(question: Question): Promise<void> {
    if (this.isBusy) return;
    this.set({ returned: null });
    this.dispatch({ type: "sent", question });
    const body = { thread_id: this.threadId, message: question.text, file_ids: [...question.fileIds] };
    try {
      await this.follow(openChat(body, randomId()));
    } catch (error) {
      this.dispatch({ type: "rejected" });
      this.set({ returned: { question, error } });
      await this.joinRunInTheWay(error);
    }
  }

  async join(run: Run): Promise<void> {
    if (this.isBusy) return;
    this.dispatch({ type: "joined", run });
    try {
      await this.follow(openRun(this.threadId, run.id));
    } catch (error) {
      this.set({ load: { status: "failed", error } });
    }
  }

  async stop(): Promise<void> {
    const runId = this.snapshot.conversation.activeRunId;
    if (!runId || this.snapshot.isStopping) return;
    this.set({ isStopping: true });
    try {
      const run = await unwrap(
        api.POST("/api/threads/{thread_id}/runs/{run_id}/cancel", {
          params: { path: { thread_id: this.threadId, run_id: runId } },
        }),
      );
      this.dispatch({ type: "run", run });
    } catch (error) {
      this.set({ isStopping: false });
      throw error;
    }
  }

  dismissReturned(): void {
    this.set({ returned: null });
  }

  dispose(): void {
    this.stream?.abort();
    this.stream = null;
    if (this.flushTimer) clearTimeout(this.flushTimer);
  }

  private async joinRunInTheWay(error: unknown): Promise<void> {
    if (!(error instanceof ApiError) || error.code !== "run_active" || !error.problem.run_id) return;
    const run = await unwrap(
      api.GET("/api/threads/{thread_id}/runs/{run_id}", {
        params: { path: { thread_id: this.threadId, run_id: error.problem.run_id } },
      }),
    ).catch(() => null);
    if (run && isActive(run)) await this.join(run);
    else await this.load();
  }

  private async follow(open: OpenStream): Promise<void> {
    const stream = new AbortController();
    this.stream = stream;
    this.set({ connection: "connecting", isStopping: false });
    const reopen = () => {
      const runId = this.snapshot.conversation.activeRunId;
      return runId ? openRun(this.threadId, runId) : null;
    };
    const handlers = {
      onEvent: (event: WireEvent) => this.receive(event),
      onConnection: (connection: Connection) => {
        this.flush();
        this.set({ connection });
      },
    };
    try {
      await followRun(open, reopen, handlers, stream.signal);
    } finally {
      this.flush();
      if (this.stream === stream) {
        this.stream = null;
        this.set({ connection: "idle", isStopping: false });
      }
    }
    if (stream.signal.aborted) return;
    await this.load();
    this.listener.onSettled();
  }

  private receive(event: WireEvent): void {
    this.queue.push(event);
    this.flushTimer ??= setTimeout(() => this.flush(), FLUSH_MS);
  }

  /** Events are applied in batches, so that a fast stream costs one rendering per frame or so. */
  private flush(): void {
    if (this.flushTimer) clearTimeout(this.flushTimer);
    this.flushTimer = null;
    if (this.queue.length === 0) return;
    const events = this.queue;
    this.queue = [];
    const seen = this.snapshot.conversation.seen;
    this.dispatch({ type: "events", events });
    for (const event of events) if (!seen.has(`${event.event} ${event.id}`)) this.announce(event);
  }

  private announce(event: WireEvent): void {
    if (event.event !== "artifact" && event.event !== "run") return;
    const meaning = interpret(event);
    if (meaning.kind === "artifact") this.listener.onArtifact(meaning.file);
    if (meaning.kind === "run") this.listener.onRun(meaning.run);
  }

  private dispatch(action: ConversationAction): void {
    this.set({ conversation: conversationReducer(this.snapshot.conversation, action) });
  }

  private set(change: Partial<ConversationSnapshot>): void {
    this.snapshot = { ...this.snapshot, ...change };
    for (const notify of this.subscribers) notify();
  }
}
