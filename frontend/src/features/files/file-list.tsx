import { Download, MoreHorizontal, Trash2, Upload } from "lucide-react";
import { toast } from "sonner";
import { useWorkspace } from "@/app/workspace";
import { explain } from "@/api/problem";
import type { ThreadFile } from "@/api/types";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { ErrorNote } from "@/components/ui/error-note";
import { IconButton } from "@/components/ui/icon-button";
import { Menu, MenuContent, MenuItem, MenuTrigger } from "@/components/ui/menu";
import { Skeleton } from "@/components/ui/skeleton";
import { groupVersions, type FileGroup } from "./file-groups";
import { KindIcon, kindLabel } from "./file-kinds";
import { openFilePicker } from "./file-picker";
import { downloadFile, useDeleteFile, useFiles } from "./file-queries";
import { formatSize } from "./file-size";
import { moveFocusInList } from "@/components/ui/list-focus";

export function FileList({ threadId, onChosen }: { threadId: string; onChosen?: () => void }) {
  const files = useFiles(threadId);
  if (files.isPending) {
    return (
      <div role="status" aria-label="Loading the files" className="flex flex-col gap-2 p-2">
        <Skeleton className="h-4 w-3/4" />
        <Skeleton className="h-4 w-1/2" />
      </div>
    );
  }
  if (files.isError) return <ErrorNote error={files.error} onRetry={() => void files.refetch()} className="m-2" />;
  if (files.data.length === 0) {
    return <p className="px-2 py-1.5 text-sm text-ink-3">Nothing yet. Drop a file anywhere.</p>;
  }
  const groups = groupVersions(files.data);
  return (
    <>
      <Group label="Uploads" groups={groups.filter(({ latest }) => latest.kind === "upload")} onChosen={onChosen} />
      <Group label="Results" groups={groups.filter(({ latest }) => latest.kind === "artifact")} onChosen={onChosen} />
    </>
  );
}

interface GroupProps {
  label: string;
  groups: readonly FileGroup[];
  onChosen: (() => void) | undefined;
}

function Group({ label, groups, onChosen }: GroupProps) {
  if (groups.length === 0) return null;
  return (
    <>
      <h3 className="px-2 pt-1 pb-0.5 text-xs text-ink-3">{label}</h3>
      {/* Arrow keys are a convenience on top of Tab, which reaches every file. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
      <ul className="mb-1" aria-label={label} onKeyDown={moveFocusInList}>
        {groups.map((group) => (
          <FileRow key={group.latest.id} group={group} onChosen={onChosen} />
        ))}
      </ul>
    </>
  );
}

function FileRow({ group, onChosen }: { group: FileGroup; onChosen: (() => void) | undefined }) {
  const { selectedFileId, selectFile } = useWorkspace();
  const { latest, versions } = group;
  const isSelected = versions.some(({ id }) => id === selectedFileId);
  return (
    <li className="group relative">
      <button
        type="button"
        data-list-item
        aria-current={isSelected}
        title={`${latest.filename} · ${kindLabel(latest.preview)} · ${formatSize(latest.size)}`}
        onClick={() => {
          selectFile(latest.id);
          onChosen?.();
        }}
        className={cn(
          "flex h-7 w-full items-center gap-2 rounded-md pr-8 pl-2 text-left text-sm hover:bg-hover max-sm:h-10",
          isSelected && "bg-hover font-medium",
        )}
      >
        <KindIcon kind={latest.preview} className="size-3.5 shrink-0 text-ink-3" />
        <span className="min-w-0 flex-1 truncate">{latest.filename}</span>
        {latest.version > 1 && (
          <span className="tabular rounded-sm border px-1 text-[11px] leading-4 text-ink-3">v{latest.version}</span>
        )}
      </button>
      <FileMenu file={latest} versions={versions} />
    </li>
  );
}

function FileMenu({ file, versions }: { file: ThreadFile; versions: readonly ThreadFile[] }) {
  const { services, selectedFileId, selectFile } = useWorkspace();
  const removal = useDeleteFile();

  function remove() {
    for (const version of versions) {
      removal.mutate(version, {
        onSuccess: () => {
          services.uploads.forgetFile(version.id);
          if (selectedFileId === version.id) selectFile(null);
        },
        onError: (error) => toast.error(`${file.filename} was not deleted`, { description: explain(error).happened }),
      });
    }
  }

  function confirmRemoval() {
    toast(`Delete ${file.filename}${versions.length > 1 ? ` and its ${versions.length} versions` : ""}?`, {
      description: "This cannot be undone.",
      action: { label: "Delete", onClick: remove },
      duration: 8_000,
    });
  }

  return (
    <Menu>
      <MenuTrigger asChild>
        <IconButton
          label={`More about ${file.filename}`}
          size="icon-sm"
          className="absolute top-0 right-0.5 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 aria-expanded:opacity-100 max-sm:top-1.5 max-sm:opacity-100"
        >
          <MoreHorizontal aria-hidden />
        </IconButton>
      </MenuTrigger>
      <MenuContent align="end">
        <MenuItem
          onSelect={() =>
            void downloadFile(file).catch((error: unknown) =>
              toast.error("The download did not start", { description: explain(error).happened }),
            )
          }
        >
          <Download aria-hidden /> Download
        </MenuItem>
        <MenuItem onSelect={confirmRemoval}>
          <Trash2 aria-hidden /> Delete…
        </MenuItem>
      </MenuContent>
    </Menu>
  );
}

export function AddFilesButton() {
  return (
    <Button variant="ghost" size="icon-sm" aria-label="Add files" onClick={openFilePicker}>
      <Upload aria-hidden />
    </Button>
  );
}
