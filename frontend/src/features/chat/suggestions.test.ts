import { describe, expect, it } from "vitest";
import type { TablePreview } from "@/api/types";
import { suggestQuestions } from "./suggestions";

function table(columns: [string, string][], rows: unknown[][]): TablePreview {
  return {
    kind: "table",
    columns: columns.map(([name, type]) => ({ name, type })),
    rows,
    total_rows: rows.length,
    offset: 0,
    sheets: null,
    sheet: null,
    notes: [],
  };
}

describe("suggestQuestions", () => {
  it("asks for the measure over time and by category", () => {
    const sales = table(
      [["order_id", "number"], ["date", "text"], ["region", "text"], ["units", "number"], ["revenue", "number"]],
      [
        ["1", "2025-01-02", "North", "3", "30"],
        ["2", "2025-01-09", "South", "4", "40"],
        ["3", "2025-02-02", "North", "5", "50"],
        ["4", "2025-03-02", "South", "6", "60"],
      ],
    );
    expect(suggestQuestions(sales)).toEqual([
      "Chart revenue by month",
      "Which region has the highest total revenue?",
      "What is in this file? Check types, gaps and duplicates",
    ]);
  });

  it("never takes an identifier for a measure", () => {
    const people = table([["id", "number"], ["name", "text"]], [["1", "Ana"], ["2", "Bo"]]);
    expect(suggestQuestions(people).join()).not.toContain("id");
  });

  it("asks how two measures relate when there is no time and no category", () => {
    const points = table([["height cm", "float64"], ["weight kg", "float64"]], [[170, 60], [180, 80]]);
    expect(suggestQuestions(points)[0]).toBe("How are height cm and weight kg related?");
  });

  it("has something to ask about any table", () => {
    expect(suggestQuestions(table([], []))).toEqual(["What is in this file? Check types, gaps and duplicates"]);
  });
});
