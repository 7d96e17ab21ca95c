import { Tooltip as Radix } from "radix-ui";
import type { ReactNode } from "react";

interface TooltipProps {
  text: ReactNode;
  shortcut?: string;
  side?: "top" | "bottom" | "left" | "right";
  children: ReactNode;
}

export const TooltipProvider = Radix.Provider;

export function Tooltip({ text, shortcut, side = "bottom", children }: TooltipProps) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="z-50 max-w-72 rounded-md bg-ink px-2 py-1 text-xs text-canvas"
        >
          {text}
          {shortcut && <kbd className="ml-2 font-sans opacity-65">{shortcut}</kbd>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
