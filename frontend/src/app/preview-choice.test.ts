import { describe, expect, it, vi } from "vitest";
import { fileOf } from "@/features/chat/conversation-samples";
import { PreviewChoice } from "./preview-choice";

const PNG = fileOf({ id: "png", preview: "image" });
const CHART = fileOf({ id: "chart", preview: "vega-lite" });
const TABLE = fileOf({ id: "table", preview: "table" });

function setUp() {
  const choice = new PreviewChoice();
  const show = vi.fn();
  choice.listen(show);
  choice.beginRun("thread-1", "run-1");
  return { choice, show };
}

describe("PreviewChoice", () => {
  it("opens a run's best chart", () => {
    const { choice, show } = setUp();
    for (const file of [TABLE, PNG, CHART, PNG]) choice.offer(file);
    expect(show.mock.calls.map(([file]) => (file as typeof PNG).id)).toEqual(["png", "chart"]);
  });

  it("leaves the preview alone once the person has chosen something in this run", () => {
    const { choice, show } = setUp();
    choice.chosenByPerson("thread-1");
    choice.offer(CHART);
    expect(show).not.toHaveBeenCalled();
    choice.beginRun("thread-1", "run-2");
    choice.offer(CHART);
    expect(show).toHaveBeenCalledOnce();
  });
});
