import { useEffect, useRef, useState } from "react";
import { useTheme } from "@/app/theme";
import { cn } from "@/components/ui/class-names";
import { Skeleton } from "@/components/ui/skeleton";
import { presentSpec, type VegaSpec } from "./chart-theme";
import type { DrawnChart } from "./vega-runtime";

interface VegaChartProps {
  spec: VegaSpec;
  label: string;
  height?: number;
  className?: string;
  onDrawn?: (chart: DrawnChart | null) => void;
}

type Drawing = { status: "drawing" | "drawn" } | { status: "failed"; message: string };

export function VegaChart({ spec, label, height, className, onDrawn }: VegaChartProps) {
  const { isDark } = useTheme();
  const frame = useRef<HTMLDivElement>(null);
  const [drawing, setDrawing] = useState<Drawing>({ status: "drawing" });

  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    let current = true;
    let chart: DrawnChart | null = null;
    import("./vega-runtime")
      .then(({ drawChart }) => drawChart(element, presentSpec(spec, isDark, { height })))
      .then((drawn) => {
        if (!current) {
          drawn.finalize();
          return;
        }
        chart = drawn;
        setDrawing({ status: "drawn" });
        onDrawn?.(drawn);
      })
      .catch((error: unknown) => {
        if (current) setDrawing({ status: "failed", message: error instanceof Error ? error.message : "" });
      });
    return () => {
      current = false;
      onDrawn?.(null);
      chart?.finalize();
      element.replaceChildren();
    };
  }, [spec, isDark, height, onDrawn]);

  return (
    <div className={cn("relative", className)} style={{ minHeight: height }}>
      {drawing.status === "drawing" && <Skeleton className="absolute inset-0 rounded-md" />}
      {drawing.status === "failed" && (
        <p role="alert" className="p-3 text-sm text-bad">
          This chart cannot be drawn. {drawing.message} You can still download its specification.
        </p>
      )}
      <div ref={frame} role="img" aria-label={label} className="w-full [&_.vega-embed]:w-full" />
    </div>
  );
}
