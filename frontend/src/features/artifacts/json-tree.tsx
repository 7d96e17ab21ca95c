import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { cn } from "@/components/ui/class-names";

const OPEN_DEPTH = 2;
const SHOWN_CHILDREN = 200;

export function JsonTree({ value }: { value: unknown }) {
  return (
    <div className="p-4 font-mono text-xs leading-5">
      <JsonNode name={null} value={value} depth={0} />
    </div>
  );
}

interface JsonNodeProps {
  name: string | null;
  value: unknown;
  depth: number;
}

function entriesOf(value: unknown): [string, unknown][] | null {
  if (Array.isArray(value)) return value.map((child: unknown, index) => [String(index), child]);
  if (typeof value === "object" && value !== null) return Object.entries(value);
  return null;
}

function JsonNode({ name, value, depth }: JsonNodeProps) {
  const entries = entriesOf(value);
  const [open, setOpen] = useState(depth < OPEN_DEPTH && (entries?.length ?? 0) <= SHOWN_CHILDREN);
  const label = name !== null && <span className="text-ink-2">{name}: </span>;
  if (!entries) {
    return (
      <p className="pl-4 wrap-anywhere">
        {label}
        <Scalar value={value} />
      </p>
    );
  }
  const [before, after] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex items-center rounded-sm text-left hover:bg-hover"
      >
        <ChevronRight aria-hidden className={cn("size-4 text-ink-3", open && "rotate-90")} />
        {label}
        <span className="ml-1 text-ink-3">{open ? before : `${before} ${entries.length.toLocaleString()} ${after}`}</span>
      </button>
      {open && (
        <div className="ml-[7px] border-l pl-2.5">
          {entries.slice(0, SHOWN_CHILDREN).map(([key, child]) => (
            <JsonNode key={key} name={key} value={child} depth={depth + 1} />
          ))}
          {entries.length > SHOWN_CHILDREN && (
            <p className="pl-4 text-ink-3">{(entries.length - SHOWN_CHILDREN).toLocaleString()} more in the file</p>
          )}
        </div>
      )}
      {open && <p className="pl-4 text-ink-3">{after}</p>}
    </div>
  );
}

function Scalar({ value }: { value: unknown }) {
  if (typeof value === "string") return <span className="text-good">{JSON.stringify(value)}</span>;
  if (typeof value === "number") return <span className="tabular text-accent-ink">{String(value)}</span>;
  return <span className="text-warn">{String(value)}</span>;
}
