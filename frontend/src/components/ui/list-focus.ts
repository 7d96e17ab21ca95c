import type { KeyboardEvent } from "react";

/** Up and Down move the focus between the `data-list-item` elements of a list. */
export function moveFocusInList(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-list-item]")];
  const at = items.findIndex((item) => item === document.activeElement);
  if (at < 0) return;
  event.preventDefault();
  items[at + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
}
