import { parseCommandOutput } from "./command-output";
import type { ConversationMessage, ToolCall } from "./conversation-state";

export type StepKind = "python" | "command" | "write" | "edit" | "read" | "list" | "search" | "delete" | "delegate" | "other";
export type StepStatus = "running" | "done" | "failed" | "stopped";

/** One line of what the analyst did, with what unfolds below it. */
export interface Step {
  id: string;
  kind: StepKind;
  status: StepStatus;
  /** `Ran Python`, in the tense that fits the status. */
  label: string;
  /** What it was done to: a file name or a command. */
  subject: string;
  code: { text: string; language: string } | null;
  stdout: string;
  stderr: string;
  notes: readonly string[];
  exitCode: number | null;
}

export interface PlanItem {
  content: string;
  status: "pending" | "in_progress" | "completed";
}

interface Verbs {
  running: string;
  done: string;
  failed: string;
}

const VERBS: Record<StepKind, Verbs> = {
  python: { running: "Running Python", done: "Ran Python", failed: "Python failed" },
  command: { running: "Running", done: "Ran", failed: "Command failed" },
  write: { running: "Writing", done: "Wrote", failed: "Could not write" },
  edit: { running: "Editing", done: "Edited", failed: "Could not edit" },
  read: { running: "Reading", done: "Read", failed: "Could not read" },
  list: { running: "Listing", done: "Listed", failed: "Could not list" },
  search: { running: "Searching", done: "Searched", failed: "Search failed" },
  delete: { running: "Deleting", done: "Deleted", failed: "Could not delete" },
  delegate: { running: "Working on", done: "Worked on", failed: "Could not finish" },
  other: { running: "Using", done: "Used", failed: "Failed" },
};

const KINDS: Record<string, StepKind> = {
  write_file: "write",
  edit_file: "edit",
  read_file: "read",
  ls: "list",
  glob: "search",
  grep: "search",
  delete: "delete",
  task: "delegate",
};

const LANGUAGES: Record<string, string> = {
  py: "python",
  sql: "sql",
  json: "json",
  md: "markdown",
  html: "html",
  sh: "bash",
  js: "javascript",
  csv: "text",
};

const HEREDOC = /^\s*(?:\S*\/)?python3?\s+-\s*<<-?\s*['"]?(\w+)['"]?\n([\s\S]*?)\n?\1\s*$/;
const INLINE = /^\s*(?:\S*\/)?python3?\s+-c\s+(["'])([\s\S]*)\1\s*$/;
const SCRIPT = /(?:^|[;&|]\s*)(?:\S*\/)?python3?\s+(?:-\S+\s+)*(\S+\.py)\b/;

export function baseName(path: string): string {
  return path.split("/").filter(Boolean).pop() ?? path;
}

export function languageOf(path: string): string {
  return LANGUAGES[path.split(".").pop()?.toLowerCase() ?? ""] ?? "text";
}

function text(args: Record<string, unknown>, key: string): string {
  const value = args[key];
  return typeof value === "string" ? value : "";
}

function applyEdit(source: string, args: Record<string, unknown>): string {
  const before = text(args, "old_string");
  const after = text(args, "new_string");
  if (!before) return source;
  return args.replace_all === true ? source.split(before).join(after) : source.replace(before, () => after);
}

function subjectOf(call: ToolCall): string {
  switch (call.name) {
    case "ls":
      return text(call.args, "path") || "the workspace";
    case "glob":
    case "grep":
      return text(call.args, "pattern");
    case "task":
      return text(call.args, "description").split("\n")[0] ?? "";
    case "execute":
      return text(call.args, "command").trim().split("\n")[0] ?? "";
    default: {
      const path = text(call.args, "file_path") || text(call.args, "path");
      return path ? baseName(path) : call.name.replaceAll("_", " ");
    }
  }
}

/** The scripts written so far in this turn, so that running one can show what was run. */
class ScriptShelf {
  private readonly contents = new Map<string, string>();

  note(call: ToolCall): void {
    const path = text(call.args, "file_path");
    if (call.name === "write_file") this.contents.set(path, text(call.args, "content"));
    if (call.name === "edit_file") this.contents.set(path, applyEdit(this.contents.get(path) ?? "", call.args));
  }

  read(path: string): string | null {
    const exact = this.contents.get(path);
    if (exact !== undefined) return exact || null;
    for (const [known, content] of this.contents) if (known.endsWith(`/${path}`)) return content || null;
    return null;
  }
}

function codeOf(call: ToolCall, shelf: ScriptShelf): Pick<Step, "kind" | "subject" | "code"> {
  const kind = KINDS[call.name] ?? "other";
  const subject = subjectOf(call);
  if (call.name === "execute") {
    const command = text(call.args, "command");
    const script = SCRIPT.exec(command)?.[1];
    if (script) {
      const source = shelf.read(script);
      return {
        kind: "python",
        subject: baseName(script),
        code: source ? { text: source, language: "python" } : { text: command, language: "bash" },
      };
    }
    const inline = HEREDOC.exec(command) ?? INLINE.exec(command);
    if (inline?.[2]) return { kind: "python", subject: "", code: { text: inline[2], language: "python" } };
    return { kind: "command", subject, code: { text: command, language: "bash" } };
  }
  if (call.name === "write_file") {
    const path = text(call.args, "file_path");
    return { kind, subject, code: { text: text(call.args, "content"), language: languageOf(path) } };
  }
  if (call.name === "edit_file") {
    const change = [
      ...text(call.args, "old_string").split("\n").map((line) => `- ${line}`),
      ...text(call.args, "new_string").split("\n").map((line) => `+ ${line}`),
    ];
    return { kind, subject, code: { text: change.join("\n"), language: "diff" } };
  }
  if (kind === "other" && Object.keys(call.args).length > 0) {
    return { kind, subject, code: { text: JSON.stringify(call.args, null, 2), language: "json" } };
  }
  return { kind, subject, code: null };
}

function statusOf(result: ConversationMessage | undefined, exitCode: number | null, isLive: boolean): StepStatus {
  if (!result) return isLive ? "running" : "stopped";
  if (result.failed || (exitCode !== null && exitCode !== 0)) return "failed";
  return "done";
}

function labelOf(kind: StepKind, status: StepStatus): string {
  const verbs = VERBS[kind];
  if (status === "failed") return verbs.failed;
  return status === "done" ? verbs.done : verbs.running;
}

function stepOf(call: ToolCall, result: ConversationMessage | undefined, shelf: ScriptShelf, isLive: boolean): Step {
  const shown = codeOf(call, shelf);
  const output = parseCommandOutput(result?.text ?? "", result?.exitCode ?? null, result?.truncated ?? false);
  const isCommand = call.name === "execute";
  const status = statusOf(result, isCommand ? output.exitCode : null, isLive);
  // What write and edit answer ("Updated file …") says nothing that the line does not say already.
  const isSilent = (shown.kind === "write" || shown.kind === "edit") && status === "done";
  return {
    id: call.id,
    ...shown,
    status,
    label: labelOf(shown.kind, status),
    stdout: isSilent ? "" : isCommand ? output.stdout : (result?.text ?? "").trimEnd(),
    stderr: isCommand ? output.stderr : "",
    notes: isCommand && output.truncated ? [...output.notes, "The output was cut because it is long."] : output.notes,
    exitCode: isCommand ? output.exitCode : null,
  };
}

/** Writing a script and then running it is one thing to a person. */
function isWriteThenRun(previous: Step | undefined, step: Step): boolean {
  return (
    previous?.kind === "write" &&
    previous.status !== "failed" &&
    previous.code?.language === "python" &&
    step.kind === "python" &&
    previous.subject === step.subject &&
    step.code?.language === "python"
  );
}

export function buildSteps(
  calls: readonly ToolCall[],
  results: ReadonlyMap<string, ConversationMessage>,
  isLive: boolean,
  shelf: ScriptShelf = new ScriptShelf(),
): Step[] {
  const steps: Step[] = [];
  for (const call of calls) {
    shelf.note(call);
    const step = stepOf(call, results.get(call.id), shelf, isLive);
    const previous = steps.at(-1);
    // The merged step keeps the first id, so that an unfolded line stays unfolded.
    if (previous && isWriteThenRun(previous, step)) steps[steps.length - 1] = { ...step, id: previous.id };
    else steps.push(step);
  }
  return steps;
}

export function newScriptShelf(): ScriptShelf {
  return new ScriptShelf();
}

const PLAN_STATUSES: readonly string[] = ["pending", "in_progress", "completed"];

function isPlanStatus(value: unknown): value is PlanItem["status"] {
  return typeof value === "string" && PLAN_STATUSES.includes(value);
}

export function planOf(call: ToolCall): PlanItem[] {
  const todos: unknown = call.args.todos;
  if (!Array.isArray(todos)) return [];
  return todos.flatMap((todo: unknown) => {
    if (typeof todo !== "object" || todo === null || !("content" in todo) || typeof todo.content !== "string") return [];
    const status = "status" in todo && isPlanStatus(todo.status) ? todo.status : "pending";
    return [{ content: todo.content, status }];
  });
}
