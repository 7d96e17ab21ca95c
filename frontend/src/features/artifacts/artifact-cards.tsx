import { useQuery } from "@tanstack/react-query";
import { Download, PanelRight } from "lucide-react";
import { useMemo } from "react";
import { toast } from "sonner";
import { explain } from "@/api/problem";
import type { ThreadFile } from "@/api/types";
import { cn } from "@/components/ui/class-names";
import { IconButton } from "@/components/ui/icon-button";
import { Skeleton } from "@/components/ui/skeleton";
import { KindIcon, kindLabel } from "@/features/files/file-kinds";
import { contentQuery, downloadFile, linkQuery } from "@/features/files/file-queries";
import { formatSize } from "@/features/files/file-size";
import { parseSpec } from "./chart-theme";
import { pictureTwins } from "./picture-twins";
import { VegaChart } from "./vega-chart";

const INLINE_HEIGHT = 240;
const MAX_INLINE = 4;
const MAX_INLINE_SPEC_BYTES = 2_000_000;

interface ArtifactCardsProps {
  files: readonly ThreadFile[];
  onOpen: (fileId: string) => void;
}

export function ArtifactCards({ files, onOpen }: ArtifactCardsProps) {
  const shown = inlineFiles(files);
  return (
    <div className="@container mt-3">
      <div className="grid grid-cols-1 gap-2 @xl:grid-cols-2">
        {files.map((file) => (
          <ArtifactCard key={file.id} file={file} onOpen={onOpen} showsPicture={shown.has(file.id)} />
        ))}
      </div>
    </div>
  );
}

/** What is shown in its card: the first charts and pictures, but no picture of a chart that is shown already. */
function inlineFiles(files: readonly ThreadFile[]): ReadonlySet<string> {
  const twins = pictureTwins(files);
  const candidates = files.filter(
    ({ id, preview, size }) =>
      (preview === "image" && !twins.has(id)) || (preview === "vega-lite" && size <= MAX_INLINE_SPEC_BYTES),
  );
  return new Set(candidates.slice(0, MAX_INLINE).map(({ id }) => id));
}

interface ArtifactCardProps {
  file: ThreadFile;
  onOpen: (fileId: string) => void;
  showsPicture: boolean;
}

function ArtifactCard({ file, onOpen, showsPicture }: ArtifactCardProps) {
  const open = () => onOpen(file.id);
  return (
    <article
      aria-label={file.filename}
      className={cn("min-w-0 overflow-hidden rounded-md border", showsPicture && "@xl:col-span-2")}
    >
      {showsPicture && file.preview === "image" && <InlineImage file={file} onOpen={open} />}
      {showsPicture && file.preview === "vega-lite" && <InlineChart file={file} />}
      <div className="flex items-center gap-2.5 py-1.5 pr-1.5 pl-3">
        <KindIcon kind={file.preview} className="size-4 shrink-0 text-ink-3" />
        <button type="button" onClick={open} className="group/name min-w-0 flex-1 rounded-sm text-left">
          <span className="block truncate text-sm font-medium group-hover/name:underline">{file.filename}</span>
          <span className="tabular block truncate text-xs text-ink-3">
            {kindLabel(file.preview)} · {formatSize(file.size)}
            {file.version > 1 && ` · v${file.version}`}
          </span>
        </button>
        <IconButton label={`Open ${file.filename}`} size="icon-sm" onClick={open}>
          <PanelRight aria-hidden />
        </IconButton>
        <IconButton
          label={`Download ${file.filename}`}
          size="icon-sm"
          onClick={() =>
            void downloadFile(file).catch((error: unknown) =>
              toast.error("The download did not start", { description: explain(error).happened }),
            )
          }
        >
          <Download aria-hidden />
        </IconButton>
      </div>
    </article>
  );
}

function InlineImage({ file, onOpen }: { file: ThreadFile; onOpen: () => void }) {
  const link = useQuery(linkQuery(file));
  return (
    <button
      type="button"
      onClick={onOpen}
      aria-label={`Open ${file.filename} in the preview`}
      className="block w-full border-b bg-white p-2 focus-visible:-outline-offset-2"
    >
      {link.data ? (
        <img
          src={link.data}
          alt={file.filename}
          style={{ height: INLINE_HEIGHT }}
          className="mx-auto max-w-full object-contain"
        />
      ) : (
        <span className="block" style={{ height: INLINE_HEIGHT }} />
      )}
    </button>
  );
}

function InlineChart({ file }: { file: ThreadFile }) {
  const content = useQuery(contentQuery(file));
  const spec = useMemo(() => (content.data ? parseSpec(content.data) : null), [content.data]);
  if (content.isError || (content.data && !spec)) return null;
  return (
    <div className="border-b px-3 py-3">
      {spec ? (
        <VegaChart spec={spec} label={`Chart ${file.filename}`} height={INLINE_HEIGHT} />
      ) : (
        <div style={{ height: INLINE_HEIGHT }}>
          <Skeleton className="size-full rounded-md" />
        </div>
      )}
    </div>
  );
}
