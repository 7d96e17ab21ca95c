import type { TablePreview } from "@/api/types";
import { withoutFloatNoise } from "./cell-text";

const CHAR_PX = 7.4;
const PADDING_PX = 26;
const MIN_PX = 64;
const MAX_PX = 320;
const SAMPLED_ROWS = 60;

function lengthOf(cell: unknown): number {
  if (typeof cell === "string") return withoutFloatNoise(cell).length;
  return typeof cell === "number" || typeof cell === "boolean" ? withoutFloatNoise(String(cell)).length : 0;
}

/** Widths in pixels that fit the header and the first rows. */
export function columnWidths(table: Pick<TablePreview, "columns" | "rows">): number[] {
  return table.columns.map(({ name }, index) => {
    const longest = table.rows
      .slice(0, SAMPLED_ROWS)
      .reduce((length, row) => Math.max(length, lengthOf(row[index])), name.length + 1);
    return Math.round(Math.min(MAX_PX, Math.max(MIN_PX, longest * CHAR_PX + PADDING_PX)));
  });
}

const NUMERIC_TYPE = /^(u?int|float|double|decimal|number|numeric|half)/i;

export function isNumericType(type: string): boolean {
  return NUMERIC_TYPE.test(type);
}
