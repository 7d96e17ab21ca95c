import type { ComponentProps } from "react";
import { cn } from "./class-names";

export function Input({ className, ...props }: ComponentProps<"input">) {
  return (
    <input
      className={cn(
        "h-9 w-full rounded-md border border-line-strong bg-raised px-3 text-base text-ink placeholder:text-ink-3 focus:border-accent focus:outline-2 focus:-outline-offset-1 focus:outline-accent aria-invalid:border-bad",
        className,
      )}
      {...props}
    />
  );
}
