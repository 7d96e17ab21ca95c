import { Check, CircleAlert, RotateCw, X } from "lucide-react";
import { useWorkspace } from "@/app/workspace";
import { explain } from "@/api/problem";
import { cn } from "@/components/ui/class-names";
import { IconButton } from "@/components/ui/icon-button";
import { formatSize } from "./file-size";
import type { Upload } from "./upload-queue";

export function UploadChips({ uploads }: { uploads: readonly Upload[] }) {
  if (uploads.length === 0) return null;
  return (
    <ul aria-label="Attached files" className="flex flex-wrap gap-2 px-3 pt-3">
      {uploads.map((upload) => (
        <UploadChip key={upload.id} upload={upload} />
      ))}
    </ul>
  );
}

function UploadChip({ upload }: { upload: Upload }) {
  const { services, selectFile } = useWorkspace();
  const { id, file, status, result } = upload;
  const isBad = status === "failed" || status === "refused";
  const isGoing = status === "waiting" || status === "sending" || status === "checking";
  return (
    <li
      className={cn(
        "relative flex max-w-full min-w-0 items-center gap-2 overflow-hidden rounded-md border py-1 pr-1 pl-2.5 text-sm",
        isBad ? "border-bad/40 bg-bad-soft" : "bg-sunken",
      )}
    >
      {isBad && <CircleAlert aria-hidden className="size-4 shrink-0 text-bad" />}
      {status === "done" && <Check aria-label="Uploaded" className="size-4 shrink-0 text-good" />}
      <button
        type="button"
        disabled={!result}
        onClick={() => result && selectFile(result.id)}
        className="min-w-0 rounded-sm text-left enabled:hover:underline"
      >
        <span className="block max-w-64 truncate">{file.name}</span>
      </button>
      <span role={isBad ? "alert" : "status"} className={cn("tabular text-xs", isBad ? "text-bad" : "text-ink-3")}>
        {statusText(upload)}
      </span>
      {status === "failed" && (
        <IconButton label={`Retry ${file.name}`} size="icon-sm" side="top" onClick={() => services.uploads.retry(id)}>
          <RotateCw aria-hidden />
        </IconButton>
      )}
      <IconButton
        label={isGoing ? `Cancel ${file.name}` : `Remove ${file.name} from this message`}
        size="icon-sm"
        side="top"
        onClick={() => services.uploads.remove(id)}
      >
        <X aria-hidden />
      </IconButton>
      {isGoing && (
        <span
          role="progressbar"
          aria-label={`Upload of ${file.name}`}
          aria-valuenow={Math.round(upload.progress * 100)}
          aria-valuemin={0}
          aria-valuemax={100}
          className="absolute bottom-0 left-0 h-0.5 bg-accent transition-[width] duration-150"
          style={{ width: `${upload.progress * 100}%` }}
        />
      )}
    </li>
  );
}

function statusText({ status, progress, file, error }: Upload): string {
  switch (status) {
    case "waiting":
      return "Waiting";
    case "sending":
      return `${Math.round(progress * 100)} % of ${formatSize(file.size)}`;
    case "checking":
      return "Checking";
    case "done":
      return formatSize(file.size);
    case "failed":
    case "refused":
      return explain(error).happened;
  }
}
