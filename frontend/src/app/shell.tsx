import { FileText, MessageSquare, PanelRight } from "lucide-react";
import { useEffect, useState, type ReactNode } from "react";
import { Group, Panel, Separator, useDefaultLayout } from "react-resizable-panels";
import { toast } from "sonner";
import { explain } from "@/api/problem";
import type { User } from "@/api/types";
import { cn } from "@/components/ui/class-names";
import { Sheet } from "@/components/ui/sheet";
import { PreviewPane } from "@/features/artifacts/preview-pane";
import { Conversation } from "@/features/chat/conversation";
import { NewConversation } from "@/features/chat/new-conversation";
import { DropZone } from "@/features/files/drop-zone";
import { FilePicker } from "@/features/files/file-picker";
import { useThread } from "@/features/threads/thread-queries";
import { CommandPalette } from "./command-palette";
import { Header } from "./header";
import { useIsNarrow, useIsWide } from "./media";
import { FilesSection, Rail } from "./rail";
import { useRememberedFlag } from "./remembered";
import { useShortcuts } from "./shortcuts";
import { useWorkspace, WorkspaceProvider } from "./workspace";

export function Shell({ user, threadId }: { user: User; threadId: string | null }) {
  return (
    <WorkspaceProvider threadId={threadId}>
      <Frame user={user} />
      <FilePicker />
      <DropZone />
    </WorkspaceProvider>
  );
}

function Frame({ user }: { user: User }) {
  const { services, threadId, selectedFileId, selectFile } = useWorkspace();
  const isWide = useIsWide();
  const isNarrow = useIsNarrow();
  const [railIsOpen, setRailIsOpen] = useRememberedFlag("rail-open", true);
  const [railSheetIsOpen, setRailSheetIsOpen] = useState(false);
  const [paletteIsOpen, setPaletteIsOpen] = useState(false);
  const toggleRail = () => (isNarrow ? setRailSheetIsOpen(!railSheetIsOpen) : setRailIsOpen(!railIsOpen));

  useShortcuts({
    onPalette: () => setPaletteIsOpen(true),
    onToggleRail: toggleRail,
    onEscape: () => {
      const controller = threadId ? services.controllerOf(threadId) : null;
      if (controller?.isBusy) {
        controller
          .stop()
          .catch((error: unknown) => toast.error("It could not be stopped", { description: explain(error).happened }));
      } else if (selectedFileId) selectFile(null);
    },
  });
  useDocumentTitle(threadId);

  const railIsHidden = isNarrow || !railIsOpen;
  const header = (
    <Header
      threadId={threadId}
      railIsHidden={railIsHidden}
      onShowRail={toggleRail}
      isNarrow={isNarrow}
    />
  );
  return (
    <div className="flex h-full">
      {!railIsHidden && (
        <aside aria-label="Sidebar" className="w-[264px] shrink-0 border-r">
          <Rail user={user} showsFiles onCollapse={() => setRailIsOpen(false)} />
        </aside>
      )}
      {isNarrow ? (
        <NarrowPanes header={header} />
      ) : (
        <WidePanes header={header} isWide={isWide} />
      )}
      {isNarrow && (
        <Sheet open={railSheetIsOpen} onOpenChange={setRailSheetIsOpen} title="Conversations" side="left">
          <Rail user={user} showsFiles={false} onChosen={() => setRailSheetIsOpen(false)} />
        </Sheet>
      )}
      <CommandPalette open={paletteIsOpen} onOpenChange={setPaletteIsOpen} onToggleRail={toggleRail} />
    </div>
  );
}

function useDocumentTitle(threadId: string | null): void {
  const thread = useThread(threadId);
  const title = thread.data?.title;
  useEffect(() => {
    document.title = title ? `${title} · Analyst` : "Analyst";
  }, [title]);
}

function ConversationPane({ header }: { header: ReactNode }) {
  const { threadId } = useWorkspace();
  return (
    <section aria-label="Conversation" className="flex h-full min-h-0 min-w-0 flex-1 flex-col">
      {header}
      {threadId ? <Conversation key={threadId} threadId={threadId} /> : <NewConversation />}
    </section>
  );
}

function WidePanes({ header, isWide }: { header: ReactNode; isWide: boolean }) {
  const { threadId, selectedFileId, selectFile } = useWorkspace();
  const [isFull, setIsFull] = useState(false);
  const showsPanel = isWide && threadId !== null && selectedFileId !== null;
  const panelIds = showsPanel ? ["conversation", "preview"] : ["conversation"];
  const layout = useDefaultLayout({ id: "panes", panelIds, storage: localStorage });
  return (
    <main className="min-w-0 flex-1">
      <Group {...layout} orientation="horizontal" className="h-full">
        <Panel id="conversation" minSize="360px">
          <ConversationPane header={header} />
        </Panel>
        {showsPanel && (
          <>
            <Separator
              aria-label="Width of the preview"
              className="w-px bg-line transition-colors outline-none hover:bg-accent focus-visible:bg-accent data-[separator=active]:bg-accent"
            />
            <Panel id="preview" defaultSize="44%" minSize="320px" maxSize="70%">
              <PreviewPane threadId={threadId} fileId={selectedFileId} onFull={setIsFull} />
            </Panel>
          </>
        )}
      </Group>
      {threadId !== null && selectedFileId !== null && (
        <Sheet
          open={isFull || !isWide}
          onOpenChange={(open) => {
            if (open) return;
            if (isFull) setIsFull(false);
            else selectFile(null);
          }}
          title="Preview"
          side={isFull ? "full" : "right"}
        >
          <PreviewPane threadId={threadId} fileId={selectedFileId} isFull={isFull} onFull={setIsFull} />
        </Sheet>
      )}
    </main>
  );
}

const NARROW_VIEWS = [
  { view: "chat", label: "Chat", Icon: MessageSquare },
  { view: "files", label: "Files", Icon: FileText },
  { view: "preview", label: "Preview", Icon: PanelRight },
] as const;

function NarrowPanes({ header }: { header: ReactNode }) {
  const { threadId, selectedFileId, narrowView: view, setNarrowView: setView } = useWorkspace();
  return (
    <main className="flex min-w-0 flex-1 flex-col">
      <div className={cn("min-h-0 flex-1", view !== "chat" && "hidden")}>
        <ConversationPane header={header} />
      </div>
      {view === "files" && (
        <div className="min-h-0 flex-1 overflow-y-auto pt-2">
          {threadId ? (
            <FilesSection threadId={threadId} />
          ) : (
            <p className="p-4 text-sm text-ink-3">Files of a conversation are shown here.</p>
          )}
        </div>
      )}
      {view === "preview" && (
        <div className="min-h-0 flex-1">
          {threadId && selectedFileId ? (
            <PreviewPane threadId={threadId} fileId={selectedFileId} />
          ) : (
            <p className="p-4 text-sm text-ink-3">Open a file or a result, and it is shown here.</p>
          )}
        </div>
      )}
      <nav aria-label="Views" className="grid shrink-0 grid-cols-3 border-t bg-rail pb-[env(safe-area-inset-bottom)]">
        {NARROW_VIEWS.map(({ view: name, label, Icon }) => (
          <button
            key={name}
            type="button"
            aria-current={view === name ? "page" : undefined}
            onClick={() => setView(name)}
            className="flex h-13 flex-col items-center justify-center gap-0.5 text-xs text-ink-3 focus-visible:-outline-offset-2 aria-[current=page]:font-medium aria-[current=page]:text-accent-ink"
          >
            <Icon aria-hidden className="size-5" />
            {label}
          </button>
        ))}
      </nav>
    </main>
  );
}
