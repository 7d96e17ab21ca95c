interface Pending {
  timer: ReturnType<typeof setTimeout>;
}

export const UNDO_MS = 6_000;

/** Deletions that wait a few seconds, so that they can be undone. React reads the waiting ids as an external store. */
export class DelayedDeletion {
  private readonly pending = new Map<string, Pending>();
  private ids: ReadonlySet<string> = new Set();
  private readonly subscribers = new Set<() => void>();

  constructor(
    private readonly remove: (id: string, leaving: boolean) => Promise<void>,
    private readonly onFailed: (id: string, error: unknown) => void,
    private readonly delayMs = UNDO_MS,
  ) {}

  readonly subscribe = (onChange: () => void): (() => void) => {
    this.subscribers.add(onChange);
    return () => this.subscribers.delete(onChange);
  };

  /** Ids that are to look deleted. */
  readonly getSnapshot = (): ReadonlySet<string> => this.ids;

  schedule(id: string): void {
    if (this.pending.has(id)) return;
    this.pending.set(id, { timer: setTimeout(() => void this.carryOut(id, false), this.delayMs) });
    this.show(id);
  }

  undo(id: string): boolean {
    const waiting = this.pending.get(id);
    if (!waiting) return false;
    clearTimeout(waiting.timer);
    this.pending.delete(id);
    this.hide(id);
    return true;
  }

  /** The page is being left: what was asked for is done now. */
  flush(): void {
    for (const id of [...this.pending.keys()]) void this.carryOut(id, true);
  }

  private async carryOut(id: string, leaving: boolean): Promise<void> {
    const waiting = this.pending.get(id);
    if (waiting) clearTimeout(waiting.timer);
    this.pending.delete(id);
    try {
      await this.remove(id, leaving);
    } catch (error) {
      this.hide(id);
      this.onFailed(id, error);
    }
  }

  private show(id: string): void {
    this.ids = new Set([...this.ids, id]);
    this.notify();
  }

  private hide(id: string): void {
    this.ids = new Set([...this.ids].filter((other) => other !== id));
    this.notify();
  }

  private notify(): void {
    for (const notify of this.subscribers) notify();
  }
}
