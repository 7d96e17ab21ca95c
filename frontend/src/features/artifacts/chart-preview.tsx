import { useQuery } from "@tanstack/react-query";
import { ImageDown } from "lucide-react";
import { useMemo, useState } from "react";
import { toast } from "sonner";
import type { ThreadFile } from "@/api/types";
import { Button } from "@/components/ui/button";
import { ErrorNote } from "@/components/ui/error-note";
import { Skeleton } from "@/components/ui/skeleton";
import { contentQuery } from "@/features/files/file-queries";
import { parseSpec } from "./chart-theme";
import { VegaChart } from "./vega-chart";
import type { DrawnChart } from "./vega-runtime";

const PNG_SCALE = 2;

export function ChartPreview({ file }: { file: ThreadFile }) {
  const content = useQuery(contentQuery(file));
  const [chart, setChart] = useState<DrawnChart | null>(null);
  const spec = useMemo(() => (content.data === undefined ? null : parseSpec(content.data)), [content.data]);
  if (content.isError) return <ErrorNote error={content.error} onRetry={() => void content.refetch()} className="m-4" />;
  if (content.isPending) return <Skeleton className="m-4 h-96 rounded-md" />;
  if (!spec) return <ErrorNote error={new Error("This is not a chart specification.")} className="m-4" />;

  async function save(format: "png" | "svg") {
    if (!chart) return;
    try {
      const link = document.createElement("a");
      link.href = await chart.view.toImageURL(format, PNG_SCALE);
      link.download = `${file.filename.replace(/(\.vl|\.vega)?\.json$/i, "")}.${format}`;
      link.click();
    } catch {
      toast.error("The picture could not be made", { description: "You can still download the specification." });
    }
  }

  return (
    <div className="flex min-h-full flex-col">
      <div className="overflow-x-auto p-4">
        <VegaChart spec={spec} label={`Chart ${file.filename}`} height={380} onDrawn={setChart} />
      </div>
      <div className="flex gap-2 px-4 pb-4">
        {(["png", "svg"] as const).map((format) => (
          <Button key={format} size="sm" disabled={!chart} onClick={() => void save(format)}>
            <ImageDown aria-hidden /> {format.toUpperCase()}
          </Button>
        ))}
      </div>
    </div>
  );
}
