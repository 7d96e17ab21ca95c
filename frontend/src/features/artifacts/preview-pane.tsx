import { Download, Maximize2, Minimize2, X } from "lucide-react";
import { toast } from "sonner";
import { useWorkspace } from "@/app/workspace";
import { explain } from "@/api/problem";
import type { ThreadFile } from "@/api/types";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { versionsOf } from "@/features/files/file-groups";
import { KindIcon, kindLabel } from "@/features/files/file-kinds";
import { downloadFile, useFiles } from "@/features/files/file-queries";
import { formatSize } from "@/features/files/file-size";
import { ChartPreview } from "./chart-preview";
import { HtmlPreview } from "./html-preview";
import { ImagePreview } from "./image-preview";
import { TablePreview } from "./table-preview";
import { TextPreview } from "./text-preview";

function Content({ file }: { file: ThreadFile }) {
  switch (file.preview) {
    case "table":
      return <TablePreview file={file} />;
    case "image":
      return <ImagePreview file={file} />;
    case "text":
    case "json":
    case "code":
      return <TextPreview file={file} />;
    case "html":
      return <HtmlPreview file={file} />;
    case "vega-lite":
      return <ChartPreview file={file} />;
    case "none":
      return <NoPreview file={file} />;
  }
}

function startDownload(file: ThreadFile): void {
  downloadFile(file).catch((error: unknown) =>
    toast.error("The download did not start", { description: explain(error).happened }),
  );
}

function NoPreview({ file }: { file: ThreadFile }) {
  return (
    <div className="grid h-full place-items-center p-6 text-center">
      <div>
        <p className="font-medium">{file.filename} cannot be shown here</p>
        <p className="mb-4 text-sm text-ink-3">Download it, or ask the analyst what is in it.</p>
        <Button onClick={() => startDownload(file)}>
          <Download aria-hidden className="size-4" /> Download
        </Button>
      </div>
    </div>
  );
}

interface PreviewPaneProps {
  threadId: string;
  fileId: string;
  isFull?: boolean;
  onFull?: (isFull: boolean) => void;
}

export function PreviewPane({ threadId, fileId, isFull = false, onFull }: PreviewPaneProps) {
  const { selectFile } = useWorkspace();
  const files = useFiles(threadId);
  const file = files.data?.find(({ id }) => id === fileId);
  return (
    <section aria-label="Preview" className="flex h-full min-w-0 flex-col bg-canvas">
      <header className="flex h-12 shrink-0 items-center gap-2 border-b pr-2 pl-4">
        {file ? (
          <>
            <KindIcon kind={file.preview} className="size-4 shrink-0 text-ink-3" />
            <div className="min-w-0 flex-1">
              <h2 className="truncate text-base leading-5 font-medium">{file.filename}</h2>
              <p className="tabular truncate text-[11px] leading-4 text-ink-3">
                {kindLabel(file.preview)} · {formatSize(file.size)}
              </p>
            </div>
            <VersionSwitch file={file} files={files.data ?? []} />
            <IconButton label={`Download ${file.filename}`} onClick={() => startDownload(file)}>
              <Download aria-hidden />
            </IconButton>
          </>
        ) : (
          <span className="flex-1" />
        )}
        {onFull && (
          <IconButton label={isFull ? "Leave full size" : "Full size"} onClick={() => onFull(!isFull)}>
            {isFull ? <Minimize2 aria-hidden /> : <Maximize2 aria-hidden />}
          </IconButton>
        )}
        <IconButton label="Close the preview" shortcut="Esc" onClick={() => (isFull ? onFull?.(false) : selectFile(null))}>
          <X aria-hidden />
        </IconButton>
      </header>
      <div className="min-h-0 flex-1 overflow-auto">
        {file && <Content key={file.id} file={file} />}
        {!file && !files.isPending && (
          <p className="p-4 text-sm text-ink-3">This file is not in this conversation any more.</p>
        )}
      </div>
    </section>
  );
}

function VersionSwitch({ file, files }: { file: ThreadFile; files: readonly ThreadFile[] }) {
  const { selectFile } = useWorkspace();
  const versions = versionsOf(file, files);
  if (versions.length < 2) return null;
  return (
    <select
      aria-label="Version"
      value={file.id}
      onChange={(event) => selectFile(event.target.value)}
      className="tabular h-7 shrink-0 rounded-md border border-line-strong bg-raised px-1.5 text-sm"
    >
      {versions.map(({ id, version }, index) => (
        <option key={id} value={id}>
          v{version}
          {index === 0 ? " (newest)" : ""}
        </option>
      ))}
    </select>
  );
}
