import { CircleAlert } from "lucide-react";
import { explain } from "@/api/problem";
import { Button } from "./button";
import { cn } from "./class-names";

interface ErrorNoteProps {
  error: unknown;
  onRetry?: () => void;
  retryLabel?: string;
  className?: string;
}

/** What happened, what is safe, what to do, and the id to quote. */
export function ErrorNote({ error, onRetry, retryLabel = "Try again", className }: ErrorNoteProps) {
  const { happened, safe, todo, requestId } = explain(error);
  return (
    <div role="alert" className={cn("flex gap-2.5 rounded-md border border-line-strong bg-bad-soft p-3 text-sm", className)}>
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      <div className="min-w-0 flex-1">
        <p className="font-medium text-ink">{happened}</p>
        <p className="text-ink-2">
          {safe} {todo}
        </p>
        {requestId && <p className="mt-0.5 font-mono text-xs break-all text-ink-3">Request {requestId}</p>}
        {onRetry && (
          <Button size="sm" className="mt-2" onClick={onRetry}>
            {retryLabel}
          </Button>
        )}
      </div>
    </div>
  );
}
