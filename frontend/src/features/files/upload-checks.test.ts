import { describe, expect, it } from "vitest";
import { formatSize } from "./file-size";
import { refusalOf } from "./upload-checks";

describe("refusalOf", () => {
  it("says that a file is empty", () => {
    expect(refusalOf({ name: "a.csv", size: 0 }, 100)).toBe("This file is empty.");
  });
  it("says how large a file is and how large it may be", () => {
    expect(refusalOf({ name: "a.csv", size: 2_000_000 }, 1_000_000)).toBe("This file is 2 MB; the limit is 1 MB.");
  });
  it("lets other files pass, also while the limit is not known", () => {
    expect(refusalOf({ name: "a.csv", size: 100 }, 100)).toBeNull();
    expect(refusalOf({ name: "a.csv", size: 1e12 }, null)).toBeNull();
  });
});

describe("formatSize", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1_000, "1 KB"],
    [36_811, "36.8 KB"],
    [999_600, "1 MB"],
    [536_870_912, "537 MB"],
  ])("writes %d as %s", (bytes, text) => {
    expect(formatSize(bytes)).toBe(text);
  });
});
