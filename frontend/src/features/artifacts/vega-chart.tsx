import { useEffect, useRef, useState } from "react";
import { useTheme } from "@/app/theme";
import { cn } from "@/components/ui/class-names";
import { Skeleton } from "@/components/ui/skeleton";
import { presentSpec, type VegaSpec } from "./chart-theme";
import { useElementWidth } from "./use-element-width";
import type { DrawnChart } from "./vega-runtime";

interface VegaChartProps {
  spec: VegaSpec;
  label: string;
  height?: number;
  className?: string;
  onDrawn?: (chart: DrawnChart | null) => void;
}

type Drawing = { status: "drawing" | "drawn" } | { status: "failed"; message: string };

interface Shown {
  host: HTMLElement;
  chart: DrawnChart;
}

function takeDown(shown: Shown | null): void {
  shown?.chart.finalize();
  shown?.host.remove();
}

export function VegaChart({ spec, label, height, className, onDrawn }: VegaChartProps) {
  const { isDark } = useTheme();
  const [setFrame, width] = useElementWidth();
  const stage = useRef<HTMLDivElement>(null);
  const shown = useRef<Shown | null>(null);
  const [drawing, setDrawing] = useState<Drawing>({ status: "drawing" });

  useEffect(() => {
    const parent = stage.current;
    if (!parent || width === 0) return;
    let current = true;
    // Drawn out of sight and then exchanged, so that a change of size or colours does not flicker.
    const host = document.createElement("div");
    host.className = "absolute invisible";
    parent.append(host);
    import("./vega-runtime")
      .then(({ drawChart }) => drawChart(host, presentSpec(spec, { isDark, width, height })))
      .then((chart) => {
        if (!current) {
          takeDown({ host, chart });
          return;
        }
        takeDown(shown.current);
        host.className = "";
        shown.current = { host, chart };
        setDrawing({ status: "drawn" });
        onDrawn?.(chart);
      })
      .catch((error: unknown) => {
        host.remove();
        if (current) setDrawing({ status: "failed", message: error instanceof Error ? error.message : "" });
      });
    return () => {
      current = false;
      if (shown.current?.host !== host) host.remove();
    };
  }, [spec, isDark, width, height, onDrawn]);

  useEffect(
    () => () => {
      takeDown(shown.current);
      shown.current = null;
      onDrawn?.(null);
    },
    [onDrawn],
  );

  return (
    <div ref={setFrame} className={cn("relative overflow-x-auto overflow-y-hidden", className)} style={{ minHeight: height }}>
      {drawing.status === "drawing" && <Skeleton className="absolute inset-0 rounded-md" />}
      {drawing.status === "failed" && (
        <p role="alert" className="p-3 text-sm text-bad">
          This chart cannot be drawn. {drawing.message} You can still download its specification.
        </p>
      )}
      <div ref={stage} role="img" aria-label={label} className="relative" />
    </div>
  );
}
