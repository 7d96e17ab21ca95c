import { LoaderCircle } from "lucide-react";
import { cn } from "./class-names";

export function Spinner({ className }: { className?: string }) {
  return <LoaderCircle aria-hidden className={cn("size-4 animate-spin text-ink-3", className)} />;
}
