import { cn } from "./class-names";

export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={cn("shimmer rounded-sm", className)} />;
}
