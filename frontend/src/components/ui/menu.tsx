import { DropdownMenu as Radix } from "radix-ui";
import type { ComponentProps } from "react";
import { cn } from "./class-names";

export const Menu = Radix.Root;
export const MenuTrigger = Radix.Trigger;

export function MenuContent({ className, ...props }: ComponentProps<typeof Radix.Content>) {
  return (
    <Radix.Portal>
      <Radix.Content
        sideOffset={4}
        collisionPadding={8}
        className={cn("z-50 min-w-44 rounded-md border border-line-strong bg-raised p-1 text-base shadow-sm", className)}
        {...props}
      />
    </Radix.Portal>
  );
}

export function MenuItem({ className, ...props }: ComponentProps<typeof Radix.Item>) {
  return (
    <Radix.Item
      className={cn(
        "flex h-8 cursor-default items-center gap-2 rounded-sm px-2 text-ink outline-none select-none data-highlighted:bg-hover [&_svg]:size-4 [&_svg]:text-ink-3",
        className,
      )}
      {...props}
    />
  );
}

export function MenuLabel({ className, ...props }: ComponentProps<typeof Radix.Label>) {
  return <Radix.Label className={cn("px-2 py-1.5 text-xs text-ink-3", className)} {...props} />;
}

export function MenuSeparator() {
  return <Radix.Separator className="-mx-1 my-1 h-px bg-line" />;
}
