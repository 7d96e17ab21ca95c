import type { Cell } from "./tsv";

const LONG_FRACTION = /^-?\d{1,15}\.\d{7,}$/;
const SHOWN_DIGITS = 6;

export function cellText(cell: Cell | undefined): string {
  return cell === null || cell === undefined ? "" : String(cell);
}

/** `51818.530000000006` as `51818.53`: digits that only come of binary arithmetic are not shown. Small numbers keep theirs. */
export function withoutFloatNoise(text: string): string {
  if (!LONG_FRACTION.test(text)) return text;
  const rounded = Number(Number(text).toFixed(SHOWN_DIGITS));
  return Math.abs(rounded) < 0.001 ? text : String(rounded);
}
