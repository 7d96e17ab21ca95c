import { LogOut, Moon, PanelLeftClose, Search, SquarePen, Sun, SunMoon } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import { explain } from "@/api/problem";
import type { User } from "@/api/types";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { Mark } from "@/components/ui/mark";
import { Tooltip } from "@/components/ui/tooltip";
import { useSignOut } from "@/features/auth/session";
import { AddFilesButton, FileList } from "@/features/files/file-list";
import { ThreadList } from "@/features/threads/thread-list";
import { chooseTheme, useTheme, type ThemeChoice } from "./theme";
import { useWorkspace } from "./workspace";

interface RailProps {
  user: User;
  showsFiles: boolean;
  onChosen?: () => void;
  onCollapse?: () => void;
}

export function Rail({ user, showsFiles, onChosen, onCollapse }: RailProps) {
  const { threadId, openThread } = useWorkspace();
  const [query, setQuery] = useState("");

  function startNew() {
    openThread(null);
    onChosen?.();
  }

  return (
    <div className="flex h-full min-h-0 flex-col bg-rail">
      <div className="flex h-12 shrink-0 items-center gap-2 pr-2 pl-3.5">
        <Mark className="size-5" />
        <span className="flex-1 font-semibold tracking-tight">Analyst</span>
        {onCollapse && (
          <IconButton label="Hide the sidebar" shortcut="Ctrl B" onClick={onCollapse}>
            <PanelLeftClose aria-hidden />
          </IconButton>
        )}
      </div>
      <div className="flex flex-col gap-1.5 px-2 pb-2">
        <Button onClick={startNew} className="w-full justify-start px-2.5">
          <SquarePen aria-hidden className="size-4 text-ink-3" /> New conversation
        </Button>
        <div className="relative">
          <Search aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-4 text-ink-3" />
          <input
            type="search"
            aria-label="Search conversations"
            placeholder="Search"
            value={query}
            onChange={(event) => setQuery(event.target.value)}
            className="h-8 w-full rounded-md bg-transparent pr-2 pl-9 text-sm placeholder:text-ink-3 hover:bg-hover focus:bg-raised focus:outline-2 focus:-outline-offset-1 focus:outline-accent"
          />
        </div>
      </div>
      <nav aria-label="Conversations" className="min-h-24 flex-1 overflow-y-auto px-2 pb-2">
        <ThreadList query={query} onChosen={onChosen} />
      </nav>
      {showsFiles && threadId && <FilesSection threadId={threadId} className="max-h-[46%] border-t" />}
      <AccountBar user={user} />
    </div>
  );
}

interface FilesSectionProps {
  threadId: string;
  className?: string;
  onChosen?: () => void;
}

export function FilesSection({ threadId, className, onChosen }: FilesSectionProps) {
  return (
    <section aria-label="Files" className={`flex min-h-0 shrink-0 flex-col ${className ?? ""}`}>
      <div className="flex h-9 shrink-0 items-center justify-between pr-2 pl-4">
        <h2 className="text-sm font-medium">Files</h2>
        <Tooltip text="Add files">
          <span>
            <AddFilesButton />
          </span>
        </Tooltip>
      </div>
      <div className="min-h-0 overflow-y-auto px-2 pb-2">
        <FileList threadId={threadId} onChosen={onChosen} />
      </div>
    </section>
  );
}

const NEXT_THEME: Record<ThemeChoice, { next: ThemeChoice; word: string; Icon: typeof Sun }> = {
  system: { next: "light", word: "as the system", Icon: SunMoon },
  light: { next: "dark", word: "light", Icon: Sun },
  dark: { next: "system", word: "dark", Icon: Moon },
};

function AccountBar({ user }: { user: User }) {
  const { choice } = useTheme();
  const signOut = useSignOut();
  const { next, word, Icon } = NEXT_THEME[choice];
  return (
    <div className="flex h-12 shrink-0 items-center gap-0.5 border-t pr-2 pl-4">
      <span className="min-w-0 flex-1 truncate text-sm text-ink-2" title={user.email}>
        {user.email}
      </span>
      <IconButton label={`Colours: ${word}`} side="top" onClick={() => chooseTheme(next)}>
        <Icon aria-hidden />
      </IconButton>
      <IconButton
        label="Sign out"
        side="top"
        disabled={signOut.isPending}
        onClick={() =>
          signOut.mutate(undefined, {
            onError: (error) => toast.error("You are still signed in", { description: explain(error).happened }),
          })
        }
      >
        <LogOut aria-hidden />
      </IconButton>
    </div>
  );
}
