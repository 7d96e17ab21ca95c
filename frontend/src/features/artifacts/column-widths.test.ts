import { describe, expect, it } from "vitest";
import { columnWidths, isNumericType } from "./column-widths";

describe("columnWidths", () => {
  it("fits the longest of header and cells, within limits", () => {
    const table = {
      columns: [{ name: "a", type: "text" }, { name: "a longer header", type: "text" }, { name: "text", type: "text" }],
      rows: [["x", 1, "y".repeat(400)]],
    };
    const [narrow, header, wide] = columnWidths(table);
    expect(narrow).toBe(64);
    expect(header).toBeGreaterThan(120);
    expect(wide).toBe(320);
  });
});

describe("isNumericType", () => {
  it.each(["number", "int64", "float64", "Int32", "decimal128(10, 2)", "uint8", "double"])("knows %s", (type) => {
    expect(isNumericType(type)).toBe(true);
  });
  it.each(["text", "string", "object", "bool", "timestamp[us]", "empty"])("does not take %s for a number", (type) => {
    expect(isNumericType(type)).toBe(false);
  });
});
