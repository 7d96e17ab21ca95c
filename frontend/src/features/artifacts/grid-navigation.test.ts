import { describe, expect, it } from "vitest";
import { moveInGrid } from "./grid-navigation";

const EXTENT = { rows: 100, columns: 5, page: 20 };
const AT = { row: 10, column: 2 };

describe("moveInGrid", () => {
  it.each([
    ["ArrowUp", false, { row: 9, column: 2 }],
    ["ArrowDown", false, { row: 11, column: 2 }],
    ["ArrowLeft", false, { row: 10, column: 1 }],
    ["ArrowRight", false, { row: 10, column: 3 }],
    ["ArrowDown", true, { row: 99, column: 2 }],
    ["PageDown", false, { row: 30, column: 2 }],
    ["PageUp", false, { row: 0, column: 2 }],
    ["Home", false, { row: 10, column: 0 }],
    ["End", true, { row: 99, column: 4 }],
  ])("%s (far: %s) leads to %o", (key, isFar, expected) => {
    expect(moveInGrid(key, isFar, AT, EXTENT)).toEqual(expected);
  });

  it("stays inside of the table", () => {
    expect(moveInGrid("ArrowUp", false, { row: 0, column: 0 }, EXTENT)).toEqual({ row: 0, column: 0 });
    expect(moveInGrid("ArrowDown", false, { row: 0, column: 0 }, { rows: 0, columns: 5, page: 20 })).toEqual({ row: 0, column: 0 });
  });

  it("leaves other keys to the page", () => {
    expect(moveInGrid("a", false, AT, EXTENT)).toBeNull();
  });
});
