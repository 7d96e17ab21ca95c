import { useSyncExternalStore } from "react";

function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (onChange) => {
      const list = window.matchMedia(query);
      list.addEventListener("change", onChange);
      return () => list.removeEventListener("change", onChange);
    },
    () => window.matchMedia(query).matches,
  );
}

/** Room for three panes. */
export const useIsWide = () => useMedia("(min-width: 1024px)");
/** One column with a bar at the bottom. */
export const useIsNarrow = () => useMedia("(max-width: 639px)");
