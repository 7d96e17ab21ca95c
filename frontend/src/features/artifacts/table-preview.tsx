import { useVirtualizer } from "@tanstack/react-virtual";
import { Copy } from "lucide-react";
import { useMemo, useRef, useState, type KeyboardEvent } from "react";
import { toast } from "sonner";
import type { TablePreview as TablePage, ThreadFile } from "@/api/types";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { ErrorNote } from "@/components/ui/error-note";
import { Skeleton } from "@/components/ui/skeleton";
import { counted } from "@/features/files/counted";
import { cellText, withoutFloatNoise } from "./cell-text";
import { columnWidths, isNumericType } from "./column-widths";
import { moveInGrid, type CellPosition } from "./grid-navigation";
import { toTsv, type Cell } from "./tsv";
import { useTablePages, type TablePages } from "./use-table-pages";

const ROW_PX = 28;
const HEADER_PX = 44;
const ROW_NUMBER_PX = 56;
const VIRTUAL_OVERSCAN = 12;

export function TablePreview({ file }: { file: ThreadFile }) {
  const [sheet, setSheet] = useState<string | null>(null);
  return <TableSheet key={`${file.id} ${sheet ?? ""}`} file={file} sheet={sheet} onSheet={setSheet} />;
}

interface TableSheetProps {
  file: ThreadFile;
  sheet: string | null;
  onSheet: (sheet: string) => void;
}

function TableSheet({ file, sheet, onSheet }: TableSheetProps) {
  const [range, setRange] = useState({ first: 0, last: 0 });
  const pages = useTablePages(file, sheet, range);
  if (!pages.first) {
    return pages.error ? <ErrorNote error={pages.error} onRetry={pages.refetch} className="m-4" /> : <TableSkeleton />;
  }
  return (
    <div className="flex h-full min-h-0 flex-col">
      <Facts file={file} first={pages.first} pages={pages} />
      {pages.first.columns.length === 0 ? (
        <p className="p-4 text-sm text-ink-3">There is nothing in this table.</p>
      ) : (
        <Grid label={file.filename} first={pages.first} pages={pages} onRange={setRange} />
      )}
      {pages.error !== null && <ErrorNote error={pages.error} onRetry={pages.refetch} className="m-2" />}
      <SheetTabs first={pages.first} onSheet={onSheet} />
    </div>
  );
}

function TableSkeleton() {
  return (
    <div role="status" aria-label="Reading the table" className="flex flex-col gap-px p-4">
      <Skeleton className="mb-2 h-4 w-56" />
      {Array.from({ length: 14 }, (_, index) => (
        <Skeleton key={index} className="h-6 w-full" />
      ))}
    </div>
  );
}

interface FactsProps {
  file: ThreadFile;
  first: TablePage;
  pages: TablePages;
}

function Facts({ file, first, pages }: FactsProps) {
  const known = `${first.total_rows === null ? "at least " : ""}${counted(pages.rowCount, "row")}`;
  const clipboard = (navigator as Partial<Navigator>).clipboard;

  function copyLoaded() {
    const header = first.columns.map(({ name }) => name);
    const rows: Cell[][] = [];
    for (let index = 0; index < pages.rowCount; index += 1) {
      const row = pages.rowAt(index);
      if (row) rows.push([...row]);
    }
    void clipboard?.writeText(toTsv(header, rows)).then(() => {
      const isAll = rows.length === pages.rowCount;
      toast.success(`${counted(rows.length, "row")} copied`, {
        description: isAll ? undefined : `These are the rows in view; download ${file.filename} for all.`,
      });
    });
  }

  return (
    <div className="flex items-center gap-2 border-b px-4 py-1.5 text-xs text-ink-3">
      <p className="tabular min-w-0 flex-1 truncate" title={first.notes.join(" · ")}>
        <span className="text-ink-2">
          {known} × {counted(first.columns.length, "column")}
        </span>
        {first.notes.map((note) => ` · ${note}`)}
      </p>
      {clipboard && (
        <Button variant="ghost" size="sm" className="h-6 text-xs" onClick={copyLoaded}>
          <Copy aria-hidden /> Copy
        </Button>
      )}
    </div>
  );
}

function SheetTabs({ first, onSheet }: { first: TablePage; onSheet: (sheet: string) => void }) {
  if (!first.sheets || first.sheets.length < 2) return null;
  return (
    <div role="tablist" aria-label="Sheets" className="flex shrink-0 gap-1 overflow-x-auto border-t bg-rail px-2 py-1">
      {first.sheets.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          aria-selected={name === first.sheet}
          onClick={() => onSheet(name)}
          className="h-7 shrink-0 rounded-md px-2.5 text-sm text-ink-2 hover:bg-hover aria-selected:bg-raised aria-selected:font-medium aria-selected:text-ink aria-selected:ring-1 aria-selected:ring-line-strong"
        >
          {name}
        </button>
      ))}
    </div>
  );
}

interface GridProps {
  label: string;
  first: TablePage;
  pages: TablePages;
  onRange: (range: { first: number; last: number }) => void;
}

function Grid({ label, first, pages, onRange }: GridProps) {
  const viewport = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<CellPosition>({ row: 0, column: 0 });
  const widths = useMemo(() => columnWidths(first), [first]);
  const numeric = useMemo(() => first.columns.map(({ type }) => isNumericType(type)), [first]);

  // eslint-disable-next-line react-hooks/incompatible-library -- its functions stay inside this component
  const rows = useVirtualizer({
    count: pages.rowCount,
    getScrollElement: () => viewport.current,
    estimateSize: () => ROW_PX,
    overscan: VIRTUAL_OVERSCAN,
    scrollPaddingStart: HEADER_PX,
    onChange: (instance) => {
      const { startIndex = 0, endIndex = 0 } = instance.range ?? {};
      onRange({ first: startIndex, last: endIndex });
    },
  });
  const columns = useVirtualizer({
    count: first.columns.length,
    horizontal: true,
    getScrollElement: () => viewport.current,
    estimateSize: (index) => widths[index] ?? 100,
    overscan: 3,
    scrollPaddingStart: ROW_NUMBER_PX,
  });

  function onKeyDown(event: KeyboardEvent) {
    if ((event.ctrlKey || event.metaKey) && event.key === "c" && !window.getSelection()?.toString()) {
      const cell = pages.rowAt(active.row)?.[active.column];
      void (navigator as Partial<Navigator>).clipboard?.writeText(cellText(cell));
      return;
    }
    const page = Math.max(1, Math.floor((viewport.current?.clientHeight ?? 0) / ROW_PX) - 2);
    const extent = { rows: pages.rowCount, columns: first.columns.length, page };
    const next = moveInGrid(event.key, event.ctrlKey || event.metaKey, active, extent);
    if (!next) return;
    event.preventDefault();
    setActive(next);
    rows.scrollToIndex(next.row);
    columns.scrollToIndex(next.column);
  }

  const width = columns.getTotalSize() + ROW_NUMBER_PX;
  return (
    <div
      ref={viewport}
      role="grid"
      aria-label={label}
      aria-rowcount={pages.rowCount + 1}
      aria-colcount={first.columns.length}
      aria-activedescendant={`cell-${active.row}-${active.column}`}
      tabIndex={0}
      onKeyDown={onKeyDown}
      className="group/grid tabular min-h-0 flex-1 overflow-auto text-sm outline-none"
    >
      <div className="relative" style={{ height: rows.getTotalSize() + HEADER_PX, width, minWidth: "100%" }}>
        <div
          role="row"
          aria-rowindex={1}
          className="sticky top-0 z-20 border-b bg-rail"
          style={{ height: HEADER_PX, width, minWidth: "100%" }}
        >
          <div role="presentation" className="sticky left-0 z-10 h-full bg-rail" style={{ width: ROW_NUMBER_PX }} />
          {columns.getVirtualItems().map((column) => {
            const { name, type } = first.columns[column.index] ?? { name: "", type: "" };
            return (
              <div
                key={column.key}
                role="columnheader"
                aria-colindex={column.index + 1}
                title={`${name} · ${type}`}
                className={cn(
                  "absolute top-0 flex h-full flex-col justify-center px-3",
                  numeric[column.index] && "items-end",
                )}
                style={{ left: ROW_NUMBER_PX + column.start, width: column.size }}
              >
                <span className="max-w-full truncate font-medium">{name}</span>
                <span className="max-w-full truncate text-[11px] leading-4 text-ink-3">{type}</span>
              </div>
            );
          })}
        </div>
        {rows.getVirtualItems().map((row) => (
          <div
            key={row.key}
            role="row"
            aria-rowindex={row.index + 2}
            className="absolute left-0 border-b border-line/70 hover:bg-hover/60"
            style={{ top: HEADER_PX + row.start, height: ROW_PX, width, minWidth: "100%" }}
          >
            <div
              role="rowheader"
              className="sticky left-0 z-10 flex h-full items-center justify-end bg-canvas pr-3 text-xs text-ink-3"
              style={{ width: ROW_NUMBER_PX }}
            >
              {(row.index + 1).toLocaleString()}
            </div>
            {columns.getVirtualItems().map((column) => (
              <GridCell
                key={column.key}
                id={`cell-${row.index}-${column.index}`}
                cell={pages.rowAt(row.index)?.[column.index]}
                columnIndex={column.index}
                isActive={active.row === row.index && active.column === column.index}
                isNumeric={numeric[column.index] ?? false}
                left={ROW_NUMBER_PX + column.start}
                width={column.size}
                onChoose={() => setActive({ row: row.index, column: column.index })}
              />
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}

interface GridCellProps {
  id: string;
  cell: Cell | undefined;
  columnIndex: number;
  isActive: boolean;
  isNumeric: boolean;
  left: number;
  width: number;
  onChoose: () => void;
}

function GridCell({ id, cell, columnIndex, isActive, isNumeric, left, width, onChoose }: GridCellProps) {
  const text = cellText(cell);
  const shown = isNumeric ? withoutFloatNoise(text) : text;
  return (
    // The grid itself takes the keys (arrow keys move the active cell); the mouse may choose one directly.
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      id={id}
      role="gridcell"
      tabIndex={-1}
      aria-colindex={columnIndex + 1}
      aria-selected={isActive}
      title={text.length > 24 || shown !== text ? text : undefined}
      onClick={onChoose}
      className={cn(
        "absolute top-0 flex h-full items-center px-3 outline-none",
        isNumeric && "justify-end",
        isActive && "group-focus/grid:shadow-[inset_0_0_0_2px_var(--c-accent)]",
      )}
      style={{ left, width }}
    >
      {cell === undefined && <Skeleton className="h-3 w-3/4" />}
      {cell === null && <span className="text-ink-3/70">·</span>}
      <span className="truncate">{shown}</span>
    </div>
  );
}
