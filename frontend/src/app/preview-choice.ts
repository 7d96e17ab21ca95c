import type { ThreadFile } from "@/api/types";

type Listener = (file: ThreadFile) => void;

const RANK: Partial<Record<ThreadFile["preview"], number>> = { "vega-lite": 3, image: 2, html: 1 };

interface RunChoice {
  runId: string;
  byPerson: boolean;
  rank: number;
}

/** Which of the files that a run makes opens by itself: its best chart, unless the person chose something meanwhile. */
export class PreviewChoice {
  private readonly choices = new Map<string, RunChoice>();
  private listener: Listener | null = null;

  listen(listener: Listener): () => void {
    this.listener = listener;
    return () => {
      if (this.listener === listener) this.listener = null;
    };
  }

  beginRun(threadId: string, runId: string): void {
    if (this.choices.get(threadId)?.runId !== runId) this.choices.set(threadId, { runId, byPerson: false, rank: 0 });
  }

  chosenByPerson(threadId: string): void {
    const choice = this.choices.get(threadId);
    if (choice) choice.byPerson = true;
  }

  offer(file: ThreadFile): void {
    const choice = this.choices.get(file.thread_id);
    const rank = RANK[file.preview] ?? 0;
    if (!choice || choice.byPerson || rank <= choice.rank) return;
    choice.rank = rank;
    this.listener?.(file);
  }
}
