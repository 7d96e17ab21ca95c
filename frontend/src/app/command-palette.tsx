import { Command } from "cmdk";
import {
  LogOut,
  MessageSquare,
  Moon,
  PanelLeft,
  PanelRightClose,
  Paperclip,
  Square,
  SquarePen,
  Sun,
  SunMoon,
  Trash2,
  type LucideIcon,
} from "lucide-react";
import { toast } from "sonner";
import { explain } from "@/api/problem";
import { useSignOut } from "@/features/auth/session";
import { groupVersions } from "@/features/files/file-groups";
import { KindIcon } from "@/features/files/file-kinds";
import { openFilePicker } from "@/features/files/file-picker";
import { useFiles } from "@/features/files/file-queries";
import { useDeleteThread } from "@/features/threads/use-delete-thread";
import { useThread, useThreads } from "@/features/threads/thread-queries";
import { chooseTheme } from "./theme";
import { useWorkspace } from "./workspace";

interface CommandPaletteProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onToggleRail: () => void;
}

export function CommandPalette({ open, onOpenChange, onToggleRail }: CommandPaletteProps) {
  return (
    <Command.Dialog
      open={open}
      onOpenChange={onOpenChange}
      label="Command palette"
      overlayClassName="fixed inset-0 z-50 bg-overlay"
      contentClassName="fixed top-[14vh] left-1/2 z-50 w-[min(600px,92vw)] -translate-x-1/2 overflow-hidden rounded-xl border border-line-strong bg-raised shadow-lg"
    >
      <Command.Input
        placeholder="Find a command, a conversation or a file"
        className="h-12 w-full border-b bg-transparent px-4 text-[15px] outline-none placeholder:text-ink-3"
      />
      <Command.List className="max-h-[min(420px,56vh)] scroll-py-2 overflow-y-auto p-1.5">
        <Command.Empty className="px-3 py-6 text-center text-sm text-ink-3">Nothing fits.</Command.Empty>
        {open && <Entries onDone={() => onOpenChange(false)} onToggleRail={onToggleRail} />}
      </Command.List>
    </Command.Dialog>
  );
}

interface EntriesProps {
  onDone: () => void;
  onToggleRail: () => void;
}

function Entries({ onDone, onToggleRail }: EntriesProps) {
  const { services, threadId, selectedFileId, openThread, selectFile } = useWorkspace();
  const threads = useThreads("");
  const { data: openedThread } = useThread(threadId);
  const files = useFiles(threadId);
  const signOut = useSignOut();
  const deleteThread = useDeleteThread();
  const controller = threadId ? services.controllerOf(threadId) : null;
  const run = (action: () => void) => () => {
    onDone();
    action();
  };

  return (
    <>
      <Group heading="Commands">
        <Entry icon={SquarePen} text="New conversation" onSelect={run(() => openThread(null))} />
        <Entry icon={Paperclip} text="Attach files" onSelect={run(openFilePicker)} />
        {controller?.isBusy && (
          <Entry
            icon={Square}
            text="Stop the run"
            hint="Esc"
            onSelect={run(
              () =>
                void controller
                  .stop()
                  .catch((error: unknown) => toast.error("It could not be stopped", { description: explain(error).happened })),
            )}
          />
        )}
        {selectedFileId && (
          <Entry icon={PanelRightClose} text="Close the preview" hint="Esc" onSelect={run(() => selectFile(null))} />
        )}
        <Entry icon={PanelLeft} text="Show or hide the sidebar" hint="Ctrl B" onSelect={run(onToggleRail)} />
        {openedThread && (
          <Entry icon={Trash2} text="Delete this conversation" onSelect={run(() => deleteThread(openedThread))} />
        )}
      </Group>
      {files.data && files.data.length > 0 && (
        <Group heading="Files">
          {groupVersions(files.data).map(({ latest }) => (
            <Command.Item
              key={latest.id}
              value={`file ${latest.filename} ${latest.id}`}
              onSelect={run(() => selectFile(latest.id))}
              className={ENTRY}
            >
              <KindIcon kind={latest.preview} className="size-4 shrink-0 text-ink-3" />
              <span className="truncate">{latest.filename}</span>
            </Command.Item>
          ))}
        </Group>
      )}
      {threads.data && (
        <Group heading="Conversations">
          {threads.data.pages
            .flatMap((page) => page.items)
            .map(({ id, title }) => (
              <Entry key={id} icon={MessageSquare} text={title} value={`${title} ${id}`} onSelect={run(() => openThread(id))} />
            ))}
        </Group>
      )}
      <Group heading="Settings">
        <Entry icon={Sun} text="Light colours" onSelect={run(() => chooseTheme("light"))} />
        <Entry icon={Moon} text="Dark colours" onSelect={run(() => chooseTheme("dark"))} />
        <Entry icon={SunMoon} text="Colours as the system" onSelect={run(() => chooseTheme("system"))} />
        <Entry icon={LogOut} text="Sign out" onSelect={run(() => signOut.mutate())} />
      </Group>
    </>
  );
}

const ENTRY =
  "flex h-9 cursor-default items-center gap-2.5 rounded-md px-2.5 text-base select-none aria-selected:bg-hover";

function Group({ heading, children }: { heading: string; children: React.ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-ink-3"
    >
      {children}
    </Command.Group>
  );
}

interface EntryProps {
  icon: LucideIcon;
  text: string;
  value?: string;
  hint?: string;
  onSelect: () => void;
}

function Entry({ icon: Icon, text, value, hint, onSelect }: EntryProps) {
  return (
    <Command.Item value={value ?? text} onSelect={onSelect} className={ENTRY}>
      <Icon aria-hidden className="size-4 shrink-0 text-ink-3" />
      <span className="min-w-0 flex-1 truncate">{text}</span>
      {hint && <kbd className="font-sans text-xs text-ink-3">{hint}</kbd>}
    </Command.Item>
  );
}
