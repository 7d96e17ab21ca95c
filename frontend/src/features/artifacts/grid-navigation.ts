export interface CellPosition {
  row: number;
  column: number;
}

interface GridExtent {
  rows: number;
  columns: number;
  /** Rows that are in view, for PageUp and PageDown. */
  page: number;
}

function clamp(value: number, count: number): number {
  return Math.max(0, Math.min(value, count - 1));
}

/** Where a key leads from a cell; null for keys that move nothing. */
export function moveInGrid(
  key: string,
  isFar: boolean,
  { row, column }: CellPosition,
  extent: GridExtent,
): CellPosition | null {
  const to = (nextRow: number, nextColumn: number) => ({
    row: clamp(nextRow, extent.rows),
    column: clamp(nextColumn, extent.columns),
  });
  switch (key) {
    case "ArrowUp":
      return to(isFar ? 0 : row - 1, column);
    case "ArrowDown":
      return to(isFar ? extent.rows - 1 : row + 1, column);
    case "ArrowLeft":
      return to(row, isFar ? 0 : column - 1);
    case "ArrowRight":
      return to(row, isFar ? extent.columns - 1 : column + 1);
    case "PageUp":
      return to(row - extent.page, column);
    case "PageDown":
      return to(row + extent.page, column);
    case "Home":
      return to(isFar ? 0 : row, 0);
    case "End":
      return to(isFar ? extent.rows - 1 : row, extent.columns - 1);
    default:
      return null;
  }
}
