import { describe, expect, it } from "vitest";
import { messageOf } from "./conversation-samples";
import { messageFromApi, type ToolCall } from "./conversation-state";
import { buildSteps } from "./steps";

function call(id: string, name: string, args: Record<string, unknown>): ToolCall {
  return { id, name, args };
}

function resultsOf(...entries: [string, string, number?][]) {
  return new Map(
    entries.map(([id, content, exitCode]) => [
      id,
      messageFromApi(messageOf({ id: `m-${id}`, type: "tool", content, tool_call_id: id, artifact: exitCode === undefined ? null : { exit_code: exitCode } })),
    ]),
  );
}

const PATH = "/workspace/a.py";

describe("buildSteps", () => {
  it.each([
    ["read_file", { file_path: "/uploads/sales.csv" }, "Read", "sales.csv"],
    ["ls", { path: "/workspace" }, "Listed", "/workspace"],
    ["grep", { pattern: "revenue" }, "Searched", "revenue"],
    ["task", { description: "Check the totals\nin detail" }, "Worked on", "Check the totals"],
    ["execute", { command: "head -3 x.csv\necho" }, "Ran", "head -3 x.csv"],
    ["some_new_tool", { x: 1 }, "Used", "some new tool"],
  ])("says what %s did", (name, args, label, subject) => {
    expect(buildSteps([call("1", name, args)], resultsOf(["1", "ok"]), false)).toMatchObject([{ label, subject, status: "done" }]);
  });

  it("shows the code that a heredoc ran", () => {
    const command = "python - <<'EOF'\nprint(1)\nprint(2)\nEOF";
    expect(buildSteps([call("1", "execute", { command })], resultsOf(["1", "1\n2", 0]), false)[0]).toMatchObject({
      kind: "python",
      code: { text: "print(1)\nprint(2)", language: "python" },
    });
  });

  it("shows a script as it was after its edits when it runs again", () => {
    const steps = buildSteps(
      [
        call("1", "write_file", { file_path: PATH, content: "print(x)" }),
        call("2", "execute", { command: `cd /workspace && python ${PATH}` }),
        call("3", "edit_file", { file_path: PATH, old_string: "x", new_string: "1" }),
        call("4", "execute", { command: `python ${PATH}` }),
      ],
      resultsOf(["1", "ok"], ["2", "[stderr]\nNameError", 1], ["3", "ok"], ["4", "1", 0]),
      false,
    );
    expect(steps.map(({ label, status }) => [label, status])).toEqual([
      ["Python failed", "failed"],
      ["Edited", "done"],
      ["Ran Python", "done"],
    ]);
    expect(steps[0]).toMatchObject({ stderr: "NameError", exitCode: 1, code: { text: "print(x)" } });
    expect(steps[2]?.code?.text).toBe("print(1)");
  });

  it("keeps a written file and the run of another script apart", () => {
    const steps = buildSteps(
      [
        call("1", "write_file", { file_path: "/workspace/b.py", content: "pass" }),
        call("2", "execute", { command: `python ${PATH}` }),
      ],
      resultsOf(["1", "ok"], ["2", "", 0]),
      false,
    );
    expect(steps.map(({ kind }) => kind)).toEqual(["write", "python"]);
  });

  it("keeps the step's identity when the run joins the written script", () => {
    const write = call("1", "write_file", { file_path: PATH, content: "pass" });
    const before = buildSteps([write], new Map(), true);
    const after = buildSteps([write, call("2", "execute", { command: `python ${PATH}` })], resultsOf(["1", "ok"]), true);
    expect(before[0]).toMatchObject({ id: "1", label: "Writing", status: "running" });
    expect(after).toMatchObject([{ id: "1", label: "Running Python", status: "running" }]);
  });

  it("treats replacement text literally", () => {
    const steps = buildSteps(
      [
        call("1", "write_file", { file_path: PATH, content: "a = 1" }),
        call("2", "edit_file", { file_path: PATH, old_string: "1", new_string: "'$&'" }),
        call("3", "execute", { command: `python ${PATH}` }),
      ],
      resultsOf(["1", "ok"], ["2", "ok"], ["3", "", 0]),
      false,
    );
    expect(steps.at(-1)?.code?.text).toBe("a = '$&'");
  });
});
