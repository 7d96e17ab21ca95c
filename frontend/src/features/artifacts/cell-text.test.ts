import { describe, expect, it } from "vitest";
import { cellText, withoutFloatNoise } from "./cell-text";

describe("withoutFloatNoise", () => {
  it.each([
    ["51818.530000000006", "51818.53"],
    ["-72377.95999999999", "-72377.96"],
    ["0.3333333333333333", "0.333333"],
  ])("shows %s as %s", (text, shown) => {
    expect(withoutFloatNoise(text)).toBe(shown);
  });

  it.each(["12.50", "1e-9", "0.00000012345", "2024-01-01", "12345678901234567890.1234567", "abc"])("leaves %s alone", (text) => {
    expect(withoutFloatNoise(text)).toBe(text);
  });
});

describe("cellText", () => {
  it("is empty for what is missing", () => {
    expect([cellText(null), cellText(undefined), cellText(0), cellText(false)]).toEqual(["", "", "0", "false"]);
  });
});
