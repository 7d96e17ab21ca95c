import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { cn } from "./class-names";

interface SheetProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  side: "left" | "right" | "full";
  children: ReactNode;
}

const PLACEMENT: Record<SheetProps["side"], string> = {
  left: "inset-y-0 left-0 w-[min(320px,88vw)] border-r",
  right: "inset-y-0 right-0 w-[min(720px,86vw)] border-l",
  full: "inset-4 rounded-xl border",
};

export function Sheet({ open, onOpenChange, title, side, children }: SheetProps) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 animate-[appear_120ms] bg-overlay" />
        <Radix.Content
          aria-describedby={undefined}
          // The sheet itself takes the focus: its first button would show its tooltip.
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            if (event.target instanceof HTMLElement) event.target.focus();
          }}
          className={cn("fixed z-40 flex animate-[appear_120ms] flex-col overflow-hidden bg-canvas outline-none", PLACEMENT[side])}
        >
          <Radix.Title className="sr-only">{title}</Radix.Title>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
