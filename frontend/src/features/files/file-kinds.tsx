import { ChartColumn, Code, File, FileCode, FileJson, FileText, Image, Table, type LucideIcon } from "lucide-react";
import type { PreviewKind } from "@/api/types";

const KINDS: Record<PreviewKind, { label: string; icon: LucideIcon }> = {
  "vega-lite": { label: "Interactive chart", icon: ChartColumn },
  image: { label: "Image", icon: Image },
  table: { label: "Table", icon: Table },
  html: { label: "Report", icon: FileCode },
  code: { label: "Code", icon: Code },
  json: { label: "JSON", icon: FileJson },
  text: { label: "Text", icon: FileText },
  none: { label: "File", icon: File },
};

export function kindLabel(kind: PreviewKind): string {
  return KINDS[kind].label;
}

export function KindIcon({ kind, className }: { kind: PreviewKind; className?: string }) {
  const Icon = KINDS[kind].icon;
  return <Icon aria-hidden className={className} />;
}
