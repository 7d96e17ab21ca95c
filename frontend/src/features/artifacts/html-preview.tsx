import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { ThreadFile } from "@/api/types";
import { ErrorNote } from "@/components/ui/error-note";
import { Skeleton } from "@/components/ui/skeleton";
import { contentQuery } from "@/features/files/file-queries";
import { confinedReport, scriptedFrameUrl } from "./report-frame";

export function HtmlPreview({ file }: { file: ThreadFile }) {
  const content = useQuery(contentQuery(file));
  const frameUrl = useQuery({ queryKey: ["report-frame"], queryFn: scriptedFrameUrl, staleTime: Infinity });
  if (content.isError) return <ErrorNote error={content.error} onRetry={() => void content.refetch()} className="m-4" />;
  if (content.isPending || frameUrl.isPending) return <Skeleton className="m-4 h-96 rounded-md" />;
  const html = confinedReport(content.data);
  return frameUrl.data ? (
    <ScriptedFrame key={file.id} url={frameUrl.data} html={html} title={file.filename} />
  ) : (
    <iframe title={file.filename} sandbox="allow-scripts" srcDoc={html} className="size-full border-0 bg-white" />
  );
}

interface ScriptedFrameProps {
  url: string;
  html: string;
  title: string;
}

/** The frame asks for its report when it is ready; it has an origin of its own, so only the window itself tells who asks. */
function ScriptedFrame({ url, html, title }: ScriptedFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    const deliver = (event: MessageEvent<unknown>) => {
      const target = frame.current?.contentWindow;
      if (!target || event.source !== target || event.data !== "report-frame-ready") return;
      window.removeEventListener("message", deliver);
      // The frame's origin is opaque: no other target can be named, and the source was checked above.
      target.postMessage({ html }, "*");
    };
    window.addEventListener("message", deliver);
    return () => window.removeEventListener("message", deliver);
  }, [html]);
  return <iframe ref={frame} title={title} src={url} sandbox="allow-scripts" className="size-full border-0 bg-white" />;
}
