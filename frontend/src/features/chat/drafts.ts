import { useSyncExternalStore } from "react";

const drafts = new Map<string, string>();
const subscribers = new Set<() => void>();

/** Unsent text of each conversation, so that looking into another one loses nothing. */
export function setDraft(key: string, text: string): void {
  if (text) drafts.set(key, text);
  else drafts.delete(key);
  for (const notify of subscribers) notify();
}

function subscribe(onChange: () => void): () => void {
  subscribers.add(onChange);
  return () => subscribers.delete(onChange);
}

export function useDraft(key: string): string {
  return useSyncExternalStore(subscribe, () => drafts.get(key) ?? "");
}
