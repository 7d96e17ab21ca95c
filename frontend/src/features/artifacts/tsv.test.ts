import { describe, expect, it } from "vitest";
import { toTsv } from "./tsv";

describe("toTsv", () => {
  it("separates by tabs and leaves missing cells empty", () => {
    expect(toTsv(["a", "b"], [[1, null], ["x", true]])).toBe("a\tb\n1\t\nx\ttrue");
  });

  it("quotes what would break the grid", () => {
    expect(toTsv(["a"], [['say "hi"'], ["two\nlines"], ["tab\there"]])).toBe('a\n"say ""hi"""\n"two\nlines"\n"tab\there"');
  });
});
