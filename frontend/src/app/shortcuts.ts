import { useEffect } from "react";

interface Shortcuts {
  onPalette: () => void;
  onToggleRail: () => void;
  onEscape: () => void;
}

function isInsideOverlay(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('[role="dialog"], [role="menu"], [role="listbox"]') !== null;
}

export function useShortcuts({ onPalette, onToggleRail, onEscape }: Shortcuts): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const withCommand = event.metaKey || event.ctrlKey;
      if (withCommand && event.key.toLowerCase() === "k") {
        event.preventDefault();
        onPalette();
      } else if (withCommand && event.key.toLowerCase() === "b") {
        event.preventDefault();
        onToggleRail();
      } else if (event.key === "Escape" && !event.defaultPrevented && !isInsideOverlay(event.target)) {
        onEscape();
      }
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [onPalette, onToggleRail, onEscape]);
}
