import { describe, expect, it } from "vitest";
import { shortAge } from "./relative-time";

const NOW = new Date("2026-03-10T12:00:00Z");

describe("shortAge", () => {
  it.each([
    ["2026-03-10T11:59:30Z", "now"],
    ["2026-03-10T11:48:00Z", "12 min"],
    ["2026-03-10T09:00:00Z", "3 h"],
    ["2026-03-05T12:00:00Z", "5 d"],
  ])("writes %s as %s", (iso, text) => {
    expect(shortAge(iso, NOW)).toBe(text);
  });

  it("names the year only of another year", () => {
    expect(shortAge("2026-01-10T12:00:00Z", NOW)).not.toContain("2026");
    expect(shortAge("2024-01-10T12:00:00Z", NOW)).toContain("2024");
  });
});
