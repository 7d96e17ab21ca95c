import { useSyncExternalStore } from "react";

export type ThemeChoice = "system" | "light" | "dark";

const KEY = "theme";
const systemIsDark = window.matchMedia("(prefers-color-scheme: dark)");
const subscribers = new Set<() => void>();

function isChoice(value: string | null): value is ThemeChoice {
  return value === "light" || value === "dark" || value === "system";
}

export function storedTheme(): ThemeChoice {
  const value = localStorage.getItem(KEY);
  return isChoice(value) ? value : "system";
}

function isDark(): boolean {
  const choice = storedTheme();
  return choice === "dark" || (choice === "system" && systemIsDark.matches);
}

function apply(): void {
  document.documentElement.classList.toggle("dark", isDark());
  for (const notify of subscribers) notify();
}

export function chooseTheme(choice: ThemeChoice): void {
  localStorage.setItem(KEY, choice);
  apply();
}

systemIsDark.addEventListener("change", apply);

function subscribe(onChange: () => void): () => void {
  subscribers.add(onChange);
  return () => subscribers.delete(onChange);
}

export function useTheme(): { choice: ThemeChoice; isDark: boolean } {
  return { choice: useSyncExternalStore(subscribe, storedTheme), isDark: useSyncExternalStore(subscribe, isDark) };
}
