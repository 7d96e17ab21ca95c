export interface CommandOutput {
  stdout: string;
  stderr: string;
  notes: string[];
  exitCode: number | null;
  truncated: boolean;
}

const STATUS_LINE = /\n?\[Command (?:succeeded|failed) with exit code (-?\d+)\]/;
const TRUNCATED_LINE = /\n?\[Output was truncated due to size limits\]\s*$/;
const SECTION = /^\[(stderr|note|not saved)\][ \n]?/gm;

/** Take a command's printed result apart: stdout first, then the sections labelled `[stderr]`, `[note]`, `[not saved]`. */
export function parseCommandOutput(text: string, exitCode: number | null, truncated: boolean): CommandOutput {
  const status = STATUS_LINE.exec(text);
  const cut = TRUNCATED_LINE.test(text);
  const body = text.replace(TRUNCATED_LINE, "").replace(STATUS_LINE, "");
  const marks = [...body.matchAll(SECTION)];
  const firstMark = marks[0]?.index ?? body.length;
  const output: CommandOutput = {
    stdout: trimEnd(body.slice(0, firstMark)),
    stderr: "",
    notes: [],
    exitCode: exitCode ?? (status?.[1] ? Number(status[1]) : null),
    truncated: truncated || cut,
  };
  marks.forEach((mark, index) => {
    const content = trimEnd(body.slice(mark.index + mark[0].length, marks[index + 1]?.index ?? body.length));
    if (mark[1] === "stderr") output.stderr = output.stderr ? `${output.stderr}\n${content}` : content;
    else if (content) output.notes.push(mark[1] === "not saved" ? `Not saved: ${content}` : content);
  });
  return output;
}

function trimEnd(text: string): string {
  return text.replace(/\s+$/, "");
}
