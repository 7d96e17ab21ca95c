export type Cell = string | number | boolean | null;

function plain(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return "";
  const text = String(cell);
  return /[\t\n\r"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What spreadsheets take from the clipboard. */
export function toTsv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows].map((row) => row.map(plain).join("\t")).join("\n");
}
