import { useQueries, useQuery } from "@tanstack/react-query";
import type { TablePreview, ThreadFile } from "@/api/types";
import { PREVIEW_PAGE_ROWS, previewQuery } from "@/features/files/file-queries";
import type { Cell } from "./tsv";

export interface TablePages {
  first: TablePreview | null;
  rowCount: number;
  error: unknown;
  refetch: () => void;
  /** A row's cells; undefined while its page is on the way. */
  rowAt: (index: number) => readonly Cell[] | undefined;
}

function isCell(value: unknown): value is Cell {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

function cellsOf(row: readonly unknown[]): Cell[] {
  return row.map((value) => (isCell(value) ? value : JSON.stringify(value)));
}

export function pagesInView(firstRow: number, lastRow: number): number[] {
  const from = Math.floor(Math.max(0, firstRow) / PREVIEW_PAGE_ROWS);
  const to = Math.floor(Math.max(0, lastRow) / PREVIEW_PAGE_ROWS);
  return Array.from({ length: to - from + 1 }, (_, index) => (from + index) * PREVIEW_PAGE_ROWS);
}

/** The pages of a table that are in view, fetched as one scrolls. The whole file is never loaded. */
export function useTablePages(
  file: ThreadFile,
  sheet: string | null,
  range: { first: number; last: number },
): TablePages {
  const start = useQuery(previewQuery(file, sheet, 0));
  const offsets = pagesInView(range.first, range.last);
  const pages = useQueries({
    queries: offsets.map((offset) => ({ ...previewQuery(file, sheet, offset), enabled: start.isSuccess })),
  });
  const byOffset = new Map(offsets.map((offset, index) => [offset, pages[index]?.data]));
  const first = start.data?.kind === "table" ? start.data : null;
  return {
    first,
    rowCount: first ? (first.total_rows ?? first.rows.length) : 0,
    error: start.error ?? pages.find(({ error }) => error)?.error ?? null,
    refetch: () => {
      void start.refetch();
      for (const page of pages) if (page.isError) void page.refetch();
    },
    rowAt: (index) => {
      const offset = Math.floor(index / PREVIEW_PAGE_ROWS) * PREVIEW_PAGE_ROWS;
      const page = offset === 0 ? first : byOffset.get(offset);
      const row = page?.kind === "table" ? page.rows[index - offset] : undefined;
      return row && cellsOf(row);
    },
  };
}
