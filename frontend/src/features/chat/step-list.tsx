import {
  ChevronRight,
  CircleSlash,
  FileSearch,
  FolderOpen,
  Pencil,
  Play,
  Search,
  Sparkles,
  Terminal,
  Trash2,
  Users,
  X,
  type LucideIcon,
} from "lucide-react";
import { useState } from "react";
import { cn } from "@/components/ui/class-names";
import { Spinner } from "@/components/ui/spinner";
import { CodeView } from "@/features/artifacts/code-view";
import type { Step, StepKind } from "./steps";

const ICONS: Record<StepKind, LucideIcon> = {
  python: Play,
  command: Terminal,
  write: Pencil,
  edit: Pencil,
  read: FileSearch,
  list: FolderOpen,
  search: Search,
  delete: Trash2,
  delegate: Users,
  other: Sparkles,
};

export function StepList({ steps }: { steps: readonly Step[] }) {
  return (
    <ul aria-label="Steps" className="my-1.5 flex flex-col">
      {steps.map((step) => (
        <StepLine key={step.id} step={step} />
      ))}
    </ul>
  );
}

function StepLine({ step }: { step: Step }) {
  const [open, setOpen] = useState(false);
  const hasDetails = [step.code?.text, step.stdout, step.stderr, ...step.notes].some(Boolean);
  return (
    <li>
      <button
        type="button"
        disabled={!hasDetails}
        aria-expanded={hasDetails ? open : undefined}
        onClick={() => setOpen(!open)}
        className="group flex min-h-7 w-full items-center gap-2 rounded-sm py-0.5 pr-1 text-left text-sm text-ink-3 enabled:hover:text-ink disabled:cursor-default"
      >
        <StepIcon step={step} />
        <span className={cn("shrink-0", step.status === "failed" && "text-bad")}>{step.label}</span>
        <span className={cn("min-w-0 truncate text-ink-2", step.kind === "command" && "font-mono text-xs")}>
          {step.subject}
        </span>
        {step.exitCode !== null && step.exitCode !== 0 && (
          <span className="tabular shrink-0 text-xs">exit {step.exitCode}</span>
        )}
        {step.status === "stopped" && <span className="shrink-0 text-xs">stopped</span>}
        {hasDetails && (
          <ChevronRight
            aria-hidden
            className={cn("size-3.5 shrink-0 transition-transform duration-100", open && "rotate-90")}
          />
        )}
      </button>
      {open && <StepDetails step={step} />}
    </li>
  );
}

function StepIcon({ step }: { step: Step }) {
  if (step.status === "running") return <Spinner className="size-3.5 shrink-0 text-accent-ink" />;
  if (step.status === "failed") return <X aria-hidden className="size-3.5 shrink-0 text-bad" />;
  if (step.status === "stopped") return <CircleSlash aria-hidden className="size-3.5 shrink-0" />;
  const Icon = ICONS[step.kind];
  return <Icon aria-hidden className="size-3.5 shrink-0" />;
}

function StepDetails({ step }: { step: Step }) {
  return (
    <div className="mt-1 mb-2 ml-[7px] border-l pl-3.5">
      <div className="overflow-hidden rounded-md border bg-sunken">
        {step.code?.text && <CodeView code={step.code.text} language={step.code.language} maxHeight={360} />}
        {step.stdout && <Output label="Output" text={step.stdout} divided={Boolean(step.code?.text)} />}
        {step.stderr && <Output label="Errors" text={step.stderr} divided tone={step.status === "failed" ? "bad" : "plain"} />}
        {step.notes.map((note) => (
          <p key={note} className="border-t px-3 py-1.5 text-xs text-ink-3">
            {note}
          </p>
        ))}
      </div>
    </div>
  );
}

interface OutputProps {
  label: string;
  text: string;
  divided: boolean;
  tone?: "plain" | "bad";
}

function Output({ label, text, divided, tone = "plain" }: OutputProps) {
  return (
    <div className={cn(divided && "border-t")}>
      <p className={cn("px-3 pt-1.5 text-xs font-medium", tone === "bad" ? "text-bad" : "text-ink-3")}>{label}</p>
      <pre className="max-h-72 overflow-auto px-3 pt-0.5 pb-2.5 font-mono text-xs leading-5 text-ink-2">{text}</pre>
    </div>
  );
}
