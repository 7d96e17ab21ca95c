import { useQuery } from "@tanstack/react-query";
import { ArrowRight, FileSpreadsheet, Upload } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import { useWorkspace } from "@/app/workspace";
import type { ThreadFile } from "@/api/types";
import { Spinner } from "@/components/ui/spinner";
import { counted } from "@/features/files/counted";
import { openFilePicker } from "@/features/files/file-picker";
import { previewQuery, useFiles } from "@/features/files/file-queries";
import { fetchSample, SAMPLE } from "@/features/files/sample";
import { suggestQuestions } from "./suggestions";

interface FirstStepsProps {
  onAsk: (question: string) => void;
  isUploading: boolean;
}

/** What an empty conversation shows: how to bring data in, then what to ask about it. */
export function FirstSteps({ onAsk, isUploading }: FirstStepsProps) {
  const { threadId } = useWorkspace();
  const { data: files = [] } = useFiles(threadId);
  const table = files.find((file) => file.preview === "table");
  return (
    <div className="flex flex-col py-[8vh]">
      <h1 className="text-[22px] leading-8 font-semibold tracking-tight">
        {files.length > 0 ? "What would you like to know?" : "Ask your data a question"}
      </h1>
      <p className="mt-1 max-w-140 text-ink-2">
        {files.length > 0
          ? "Ask in plain words. You see each step, the code behind it, and every chart and table it makes."
          : "Add a CSV, Excel, Parquet or JSON file. The analyst writes code, runs it in an isolated sandbox, and answers with numbers it computed."}
      </p>
      {table && <Suggestions file={table} onAsk={onAsk} />}
      {files.length === 0 && !isUploading && <WaysIn />}
    </div>
  );
}

function WaysIn() {
  const { addFiles } = useWorkspace();
  const [isFetching, setIsFetching] = useState(false);

  async function trySample() {
    setIsFetching(true);
    try {
      await addFiles([await fetchSample()]);
    } catch {
      toast.error("The sample could not be loaded", { description: "Check your connection, then try again." });
    } finally {
      setIsFetching(false);
    }
  }

  return (
    <div className="mt-6 grid gap-3 sm:grid-cols-2">
      <button
        type="button"
        onClick={openFilePicker}
        className="flex items-start gap-3 rounded-md border border-dashed border-line-strong p-4 text-left hover:border-accent hover:bg-accent-soft"
      >
        <Upload aria-hidden className="mt-0.5 size-5 text-ink-3" />
        <span>
          <span className="block font-medium">Choose files</span>
          <span className="block text-sm text-ink-3">or drop or paste them anywhere</span>
        </span>
      </button>
      <button
        type="button"
        onClick={() => void trySample()}
        disabled={isFetching}
        className="flex items-start gap-3 rounded-md border border-line-strong p-4 text-left hover:border-accent hover:bg-accent-soft disabled:opacity-60"
      >
        {isFetching ? (
          <Spinner className="mt-0.5 size-5" />
        ) : (
          <FileSpreadsheet aria-hidden className="mt-0.5 size-5 text-ink-3" />
        )}
        <span>
          <span className="block font-medium">Try a sample</span>
          <span className="block text-sm text-ink-3">{SAMPLE.description}</span>
        </span>
      </button>
    </div>
  );
}

function Suggestions({ file, onAsk }: { file: ThreadFile; onAsk: (question: string) => void }) {
  const preview = useQuery(previewQuery(file, null, 0));
  if (preview.isPending) {
    return (
      <p role="status" className="mt-6 flex items-center gap-2 text-sm text-ink-3">
        <Spinner className="size-3.5" /> Looking at {file.filename}…
      </p>
    );
  }
  if (preview.data?.kind !== "table") return null;
  const { columns, total_rows: rows } = preview.data;
  return (
    <section aria-label="Suggested questions" className="mt-6">
      <p className="mb-2 text-sm text-ink-3">
        <span className="text-ink-2">{file.filename}</span>
        <span className="tabular">
          {rows === null ? "" : ` · ${counted(rows, "row")}`} · {counted(columns.length, "column")}
        </span>
      </p>
      <ul className="divide-y overflow-hidden rounded-md border">
        {suggestQuestions(preview.data).map((question) => (
          <li key={question}>
            <button
              type="button"
              onClick={() => onAsk(question)}
              className="group flex w-full items-center justify-between gap-3 px-3.5 py-2.5 text-left hover:bg-accent-soft focus-visible:-outline-offset-2"
            >
              {question}
              <ArrowRight aria-hidden className="size-4 shrink-0 text-ink-3 group-hover:text-accent-ink" />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
