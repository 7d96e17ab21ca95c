import { MoreHorizontal, Pencil, Trash2 } from "lucide-react";
import { useDeferredValue, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { toast } from "sonner";
import { Link } from "wouter";
import { useWorkspace } from "@/app/workspace";
import { explain } from "@/api/problem";
import { isActive, type Thread } from "@/api/types";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { ErrorNote } from "@/components/ui/error-note";
import { IconButton } from "@/components/ui/icon-button";
import { moveFocusInList } from "@/components/ui/list-focus";
import { Menu, MenuContent, MenuItem, MenuTrigger } from "@/components/ui/menu";
import { Skeleton } from "@/components/ui/skeleton";
import { Spinner } from "@/components/ui/spinner";
import { shortAge } from "./relative-time";
import { useRenameThread, useThreads } from "./thread-queries";
import { useDeleteThread } from "./use-delete-thread";

interface ThreadListProps {
  query: string;
  onChosen?: () => void;
}

export function ThreadList({ query, onChosen }: ThreadListProps) {
  const threads = useThreads(useDeferredValue(query.trim()));
  const { services, threadId } = useWorkspace();
  const hidden = useSyncExternalStore(services.deletions.subscribe, services.deletions.getSnapshot);
  if (threads.isPending) {
    return (
      <div role="status" aria-label="Loading the conversations" className="flex flex-col gap-3 p-2">
        {["w-4/5", "w-3/5", "w-2/3", "w-1/2"].map((width) => (
          <Skeleton key={width} className={cn("h-3.5", width)} />
        ))}
      </div>
    );
  }
  if (threads.isError) return <ErrorNote error={threads.error} onRetry={() => void threads.refetch()} />;
  const items = threads.data.pages.flatMap((page) => page.items).filter(({ id }) => !hidden.has(id));
  if (items.length === 0) {
    return (
      <p className="px-2 py-1.5 text-sm text-ink-3">
        {query.trim() ? `No conversation is called “${query.trim()}”.` : "Your conversations will be here."}
      </p>
    );
  }
  return (
    <>
      {/* Arrow keys are a convenience on top of Tab, which reaches every conversation. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
      <ul aria-label="Conversations" onKeyDown={moveFocusInList}>
        {items.map((thread) => (
          <ThreadRow key={thread.id} thread={thread} isOpen={thread.id === threadId} onChosen={onChosen} />
        ))}
      </ul>
      {threads.hasNextPage && (
        <Button
          variant="ghost"
          size="sm"
          className="mt-1 w-full"
          disabled={threads.isFetchingNextPage}
          onClick={() => void threads.fetchNextPage()}
        >
          Show more
        </Button>
      )}
    </>
  );
}

interface ThreadRowProps {
  thread: Thread;
  isOpen: boolean;
  onChosen: (() => void) | undefined;
}

function ThreadRow({ thread, isOpen, onChosen }: ThreadRowProps) {
  const [isRenaming, setIsRenaming] = useState(false);
  const deleteThread = useDeleteThread();
  const { setNarrowView } = useWorkspace();
  if (isRenaming) return <RenameRow thread={thread} onDone={() => setIsRenaming(false)} />;
  return (
    <li className="group relative">
      <Link
        href={`/t/${thread.id}`}
        data-list-item
        aria-current={isOpen ? "page" : undefined}
        onClick={() => {
          setNarrowView("chat");
          onChosen?.();
        }}
        className={cn(
          "flex h-8 items-center gap-2 rounded-md px-2 text-sm hover:bg-hover max-sm:h-11",
          isOpen && "bg-hover font-medium",
        )}
      >
        <span className="min-w-0 flex-1 truncate" title={thread.title}>
          {thread.title}
        </span>
        {isActive(thread.active_run) ? (
          <span role="img" aria-label="Working">
            <Spinner className="size-3.5 text-accent-ink" />
          </span>
        ) : (
          <time
            dateTime={thread.updated_at}
            className="tabular shrink-0 text-xs text-ink-3 group-focus-within:opacity-0 group-hover:opacity-0 max-sm:mr-9 max-sm:!opacity-100"
          >
            {shortAge(thread.updated_at, new Date())}
          </time>
        )}
      </Link>
      <Menu>
        <MenuTrigger asChild>
          <IconButton
            label={`More about ${thread.title}`}
            size="icon-sm"
            className="absolute top-0.5 right-0.5 bg-hover opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 aria-expanded:opacity-100 max-sm:top-2 max-sm:bg-transparent max-sm:opacity-100"
          >
            <MoreHorizontal aria-hidden />
          </IconButton>
        </MenuTrigger>
        <MenuContent align="end">
          <MenuItem onSelect={() => setIsRenaming(true)}>
            <Pencil aria-hidden /> Rename
          </MenuItem>
          <MenuItem onSelect={() => deleteThread(thread)}>
            <Trash2 aria-hidden /> Delete
          </MenuItem>
        </MenuContent>
      </Menu>
    </li>
  );
}

function RenameRow({ thread, onDone }: { thread: Thread; onDone: () => void }) {
  const rename = useRenameThread();
  const input = useRef<HTMLInputElement>(null);

  useEffect(() => {
    // After the menu has given the focus back.
    const timer = setTimeout(() => input.current?.select());
    return () => clearTimeout(timer);
  }, []);

  function save() {
    const title = input.current?.value.trim() ?? "";
    onDone();
    if (!title || title === thread.title) return;
    rename.mutate(
      { threadId: thread.id, title },
      { onError: (error) => toast.error("It was not renamed", { description: explain(error).happened }) },
    );
  }

  return (
    <li>
      <input
        ref={input}
        aria-label={`New title of ${thread.title}`}
        defaultValue={thread.title}
        maxLength={200}
        onBlur={save}
        onKeyDown={(event) => {
          if (event.key === "Enter") save();
          if (event.key !== "Escape") return;
          event.stopPropagation();
          onDone();
        }}
        className="h-8 w-full rounded-md border border-accent bg-raised px-[7px] text-sm outline-none"
      />
    </li>
  );
}
