import { useQuery } from "@tanstack/react-query";
import type { ThreadFile } from "@/api/types";
import { ErrorNote } from "@/components/ui/error-note";
import { Skeleton } from "@/components/ui/skeleton";
import { previewQuery } from "@/features/files/file-queries";
import { CodeView } from "./code-view";
import { JsonTree } from "./json-tree";

const MAX_TREE_CHARS = 300_000;

function parseJson(text: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return null;
  }
}

export function TextPreview({ file }: { file: ThreadFile }) {
  const preview = useQuery(previewQuery(file, null, 0));
  if (preview.isError) return <ErrorNote error={preview.error} onRetry={() => void preview.refetch()} className="m-4" />;
  if (preview.isPending) {
    return (
      <div role="status" aria-label="Loading the text" className="flex flex-col gap-2 p-4">
        <Skeleton className="h-3.5 w-2/3" />
        <Skeleton className="h-3.5 w-4/5" />
        <Skeleton className="h-3.5 w-1/2" />
      </div>
    );
  }
  if (preview.data.kind !== "text") return null;
  const { text, language, truncated, notes } = preview.data;
  const json = file.preview === "json" && !truncated && text.length <= MAX_TREE_CHARS ? parseJson(text) : null;
  return (
    <>
      {notes.length > 0 && <p className="border-b px-4 py-1.5 text-xs text-ink-3">{notes.join(" · ")}</p>}
      {json ? (
        <JsonTree value={json.value} />
      ) : file.preview === "text" ? (
        <pre className="p-4 font-mono text-xs leading-5 whitespace-pre-wrap wrap-anywhere">{text}</pre>
      ) : (
        <CodeView code={text} language={language ?? "text"} lineNumbers />
      )}
    </>
  );
}
