import { Upload } from "lucide-react";
import { useEffect, useState } from "react";
import { useWorkspace } from "@/app/workspace";

function carriesFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes("Files") ?? false;
}

/** Files may be dropped anywhere on the page, or pasted anywhere outside the message box. */
export function DropZone() {
  const { addFiles } = useWorkspace();
  const [isOver, setIsOver] = useState(false);

  useEffect(() => {
    let depth = 0;
    const leave = () => {
      depth = 0;
      setIsOver(false);
    };
    const onEnter = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      depth += 1;
      setIsOver(true);
    };
    const onLeave = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      depth -= 1;
      if (depth <= 0) leave();
    };
    const onOver = (event: DragEvent) => {
      if (carriesFiles(event)) event.preventDefault();
    };
    const onDrop = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      leave();
      void addFiles([...(event.dataTransfer?.files ?? [])]);
    };
    const onPaste = (event: ClipboardEvent) => {
      if (event.defaultPrevented) return;
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length > 0) void addFiles(files);
    };
    window.addEventListener("dragenter", onEnter);
    window.addEventListener("dragleave", onLeave);
    window.addEventListener("dragover", onOver);
    window.addEventListener("drop", onDrop);
    window.addEventListener("paste", onPaste);
    return () => {
      window.removeEventListener("dragenter", onEnter);
      window.removeEventListener("dragleave", onLeave);
      window.removeEventListener("dragover", onOver);
      window.removeEventListener("drop", onDrop);
      window.removeEventListener("paste", onPaste);
    };
  }, [addFiles]);

  if (!isOver) return null;
  return (
    <div className="pointer-events-none fixed inset-0 z-50 grid place-items-center bg-canvas/85 p-4">
      <div className="flex h-full w-full flex-col items-center justify-center gap-2 rounded-xl border-2 border-dashed border-accent">
        <Upload aria-hidden className="size-6 text-accent-ink" />
        <p className="text-[15px] font-medium">Drop to add to this conversation</p>
        <p className="text-sm text-ink-3">CSV, Excel, Parquet, JSON and more</p>
      </div>
    </div>
  );
}
