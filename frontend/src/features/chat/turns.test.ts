import { describe, expect, it } from "vitest";
import { fileOf, messageOf, runOf, storedMessages } from "./conversation-samples";
import { conversationReducer, EMPTY_CONVERSATION } from "./conversation-state";
import { buildTurns } from "./turns";

function turnsOf(messages = storedMessages(), runs = [runOf({ status: "succeeded" })], files = [fileOf()]) {
  return buildTurns(conversationReducer(EMPTY_CONVERSATION, { type: "loaded", messages, runs }), files);
}

describe("buildTurns", () => {
  it("puts text, steps and the answer in the order in which they happened", () => {
    expect(turnsOf()[0]?.blocks.map(({ kind }) => kind)).toEqual(["text", "steps", "text"]);
  });

  it("shows writing a script and running it as one step with its code and output", () => {
    const block = turnsOf()[0]?.blocks[1];
    expect(block?.kind === "steps" && block.steps).toMatchObject([
      { kind: "python", label: "Ran Python", subject: "01_revenue.py", status: "done", stdout: "total 92", exitCode: 0 },
    ]);
  });

  it("shows the plan once, as it stood last, where it was first made", () => {
    const todo = (id: string, status: string) =>
      messageOf({ id, type: "ai", tool_calls: [{ id: `c-${id}`, name: "write_todos", args: { todos: [{ content: "Look", status }] } }] });
    const blocks = turnsOf([
      messageOf({ id: "run-1", type: "human", content: "q" }),
      todo("a", "pending"),
      messageOf({ id: "b", type: "ai", content: "Working" }),
      todo("c", "completed"),
    ])[0]?.blocks;
    expect(blocks).toEqual([
      { kind: "plan", id: "c-a", items: [{ content: "Look", status: "completed" }] },
      { kind: "text", id: "b", text: "Working" },
    ]);
  });

  it("gives a turn its own artifacts, the newest version of each, charts first", () => {
    const files = [
      fileOf({ id: "csv", filename: "t.csv", guest_path: "/artifacts/t.csv", preview: "table" }),
      fileOf({ id: "png-1", version: 1 }),
      fileOf({ id: "png-2", version: 2 }),
      fileOf({ id: "vl", filename: "chart.vl.json", guest_path: "/artifacts/chart.vl.json", preview: "vega-lite" }),
      fileOf({ id: "other", source_run_id: "run-0" }),
      fileOf({ id: "up", kind: "upload", source_run_id: null }),
    ];
    expect(turnsOf(undefined, undefined, files)[0]?.artifacts.map(({ id }) => id)).toEqual(["vl", "png-2", "csv"]);
  });

  it("names the error of a run that failed", () => {
    const failed = runOf({ status: "failed", error: { code: "model_failed", message: "The model did not answer." } });
    expect(turnsOf(undefined, [failed])[0]).toMatchObject({ status: "failed", error: { message: "The model did not answer." } });
  });

  it("marks a step without a result as stopped once the run is over", () => {
    const cancelled = turnsOf(storedMessages().slice(0, 4), [runOf({ status: "cancelled" })]);
    const block = cancelled[0]?.blocks[1];
    expect(block?.kind === "steps" && block.steps[0]?.status).toBe("stopped");
  });
});
