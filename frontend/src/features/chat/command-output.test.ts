import { describe, expect, it } from "vitest";
import { parseCommandOutput } from "./command-output";

describe("parseCommandOutput", () => {
  it("takes stdout, stderr and notes apart", () => {
    const text = "a\nb\n[stderr]\nwarn\n[note] took long\n[not saved]\nx: too big\n[Command succeeded with exit code 0]";
    expect(parseCommandOutput(text, null, false)).toEqual({
      stdout: "a\nb",
      stderr: "warn",
      notes: ["took long", "Not saved: x: too big"],
      exitCode: 0,
      truncated: false,
    });
  });

  it("reads the exit code from the text only when nothing better is known", () => {
    const text = "x\n[Command failed with exit code 124]";
    expect(parseCommandOutput(text, null, false).exitCode).toBe(124);
    expect(parseCommandOutput(text, 1, false).exitCode).toBe(1);
  });

  it("notices that the output was cut", () => {
    const text = "x\n[Command succeeded with exit code 0]\n[Output was truncated due to size limits]";
    expect(parseCommandOutput(text, 0, false)).toMatchObject({ stdout: "x", truncated: true });
  });

  it("leaves labels inside of a line alone", () => {
    expect(parseCommandOutput("see [stderr] here", 0, false)).toMatchObject({ stdout: "see [stderr] here", stderr: "" });
  });

  it("says nothing of an exit code that is unknown", () => {
    expect(parseCommandOutput("", null, false).exitCode).toBeNull();
  });
});
