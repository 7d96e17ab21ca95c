import { Check, CircleAlert, CircleSlash, Cpu, Menu as MenuIcon, PanelLeftOpen, TriangleAlert } from "lucide-react";
import { Popover } from "radix-ui";
import { useState, type ReactNode } from "react";
import { toast } from "sonner";
import { explain } from "@/api/problem";
import type { Run } from "@/api/types";
import { IconButton } from "@/components/ui/icon-button";
import { Spinner } from "@/components/ui/spinner";
import { useMeta } from "@/features/auth/session";
import { useConversation } from "@/features/chat/use-conversation";
import { useRenameThread, useThread } from "@/features/threads/thread-queries";

interface HeaderProps {
  threadId: string | null;
  railIsHidden: boolean;
  onShowRail: () => void;
  isNarrow: boolean;
}

export function Header({ threadId, railIsHidden, onShowRail, isNarrow }: HeaderProps) {
  return (
    <header className="flex h-12 shrink-0 items-center gap-2 border-b px-3">
      {railIsHidden && (
        <IconButton label={isNarrow ? "Conversations" : "Show the sidebar"} onClick={onShowRail}>
          {isNarrow ? <MenuIcon aria-hidden /> : <PanelLeftOpen aria-hidden />}
        </IconButton>
      )}
      {threadId ? (
        <Title key={threadId} threadId={threadId} />
      ) : (
        <h1 className="min-w-0 flex-1 truncate px-1.5 font-medium">New conversation</h1>
      )}
      {threadId && <RunState threadId={threadId} />}
      <ModelBadge />
    </header>
  );
}

function Title({ threadId }: { threadId: string }) {
  const thread = useThread(threadId);
  const rename = useRenameThread();
  const [draft, setDraft] = useState<string | null>(null);
  const title = thread.data?.title ?? "";

  function save() {
    const next = draft?.trim() ?? "";
    setDraft(null);
    if (!next || next === title) return;
    rename.mutate(
      { threadId, title: next },
      { onError: (error) => toast.error("It was not renamed", { description: explain(error).happened }) },
    );
  }

  return (
    <input
      aria-label="Title"
      value={draft ?? title}
      maxLength={200}
      disabled={!thread.data}
      onFocus={() => setDraft(title)}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key === "Enter") event.currentTarget.blur();
        if (event.key !== "Escape") return;
        event.stopPropagation();
        setDraft(null);
        // Blurred after the draft is gone, so that nothing is saved.
        requestAnimationFrame(() => (event.target as HTMLInputElement).blur());
      }}
      className="h-8 min-w-0 flex-1 truncate rounded-md bg-transparent px-1.5 font-medium hover:bg-hover focus:bg-raised focus:outline-2 focus:-outline-offset-1 focus:outline-accent"
    />
  );
}

function RunState({ threadId }: { threadId: string }) {
  const { snapshot, turns, isRunning } = useConversation(threadId);
  const last = turns.at(-1);
  const run = last ? snapshot.conversation.runs[last.id] : undefined;
  return (
    <span role="status" aria-label="State" className="flex shrink-0 items-center gap-1.5 text-xs text-ink-3">
      <StateWords isRunning={isRunning} isReconnecting={snapshot.connection === "reconnecting"} run={run} />
    </span>
  );
}

interface StateWordsProps {
  isRunning: boolean;
  isReconnecting: boolean;
  run: Run | undefined;
}

function StateWords({ isRunning, isReconnecting, run }: StateWordsProps): ReactNode {
  if (isReconnecting) return <Words icon={<Spinner className="size-3.5" />} text="Reconnecting" />;
  if (isRunning) return <Words icon={<Spinner className="size-3.5 text-accent-ink" />} text="Working" />;
  switch (run?.status) {
    case "succeeded":
      return <Words icon={<Check aria-hidden className="size-3.5 text-good" />} text="Done" detail={effortOf(run)} />;
    case "failed":
      return <Words icon={<CircleAlert aria-hidden className="size-3.5 text-bad" />} text="Failed" />;
    case "cancelled":
      return <Words icon={<CircleSlash aria-hidden className="size-3.5" />} text="Stopped" />;
    default:
      return null;
  }
}

function Words({ icon, text, detail }: { icon: ReactNode; text: string; detail?: string }) {
  return (
    <>
      {icon}
      <span>{text}</span>
      {detail && <span className="tabular hidden md:inline">{detail}</span>}
    </>
  );
}

/** How long the run took and what it cost, as far as it is known. */
function effortOf(run: Run): string {
  const parts: string[] = [];
  if (run.started_at && run.finished_at) {
    const seconds = (Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1000;
    parts.push(seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds / 60)} min`);
  }
  if (run.cost !== null) parts.push(`$${run.cost.toFixed(run.cost < 1 ? 3 : 2)}`);
  return parts.map((part) => `· ${part}`).join(" ");
}

function ModelBadge() {
  const meta = useMeta();
  if (!meta.data) return null;
  const { label, offline, note, id } = meta.data.model;
  return (
    <Popover.Root>
      <Popover.Trigger
        aria-label={`Model: ${label}`}
        className="flex h-7 max-w-44 shrink-0 items-center gap-1.5 rounded-md border px-2 text-xs text-ink-2 hover:bg-hover"
      >
        {offline ? (
          <TriangleAlert aria-hidden className="size-3.5 shrink-0 text-warn" />
        ) : (
          <Cpu aria-hidden className="size-3.5 shrink-0 text-ink-3" />
        )}
        <span className="truncate max-sm:sr-only">{label}</span>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={6}
          collisionPadding={8}
          className="z-50 w-80 rounded-md border border-line-strong bg-raised p-3.5 text-sm shadow-sm"
        >
          <p className="font-medium">{label}</p>
          {offline ? (
            <>
              <p className="mt-1 text-ink-2">
                This is no language model. It matches your words to the columns of your files, writes pandas code and runs it;
                it understands common questions only.
              </p>
              <p className="mt-2 text-ink-2">To use a model, the operator of this installation sets</p>
              <pre className="mt-1 overflow-x-auto rounded-sm bg-sunken px-2 py-1.5 font-mono text-xs">
                AGENT_MODEL=openai:NAME{"\n"}AGENT_MODEL=anthropic:NAME{"\n"}AGENT_MODEL=openai-compatible:NAME
              </pre>
              <p className="mt-2 text-ink-3">and starts it again. Your files and conversations stay.</p>
            </>
          ) : (
            <>
              <p className="mt-1 font-mono text-xs break-all text-ink-2">{id}</p>
              {note && <p className="mt-1 text-ink-2">{note}</p>}
            </>
          )}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
