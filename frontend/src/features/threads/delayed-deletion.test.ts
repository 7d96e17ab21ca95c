import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DelayedDeletion } from "./delayed-deletion";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function setUp(remove = vi.fn(() => Promise.resolve())) {
  const onFailed = vi.fn();
  return { remove, onFailed, deletion: new DelayedDeletion(remove, onFailed, 1_000) };
}

describe("DelayedDeletion", () => {
  it("hides at once and deletes after the delay", async () => {
    const { deletion, remove } = setUp();
    deletion.schedule("a");
    expect([...deletion.getSnapshot()]).toEqual(["a"]);
    expect(remove).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(remove).toHaveBeenCalledExactlyOnceWith("a", false);
  });

  it("gives back what is undone in time", async () => {
    const { deletion, remove } = setUp();
    deletion.schedule("a");
    expect(deletion.undo("a")).toBe(true);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(remove).not.toHaveBeenCalled();
    expect(deletion.getSnapshot().size).toBe(0);
    expect(deletion.undo("a")).toBe(false);
  });

  it("deletes what is waiting when the page is left", () => {
    const { deletion, remove } = setUp();
    deletion.schedule("a");
    deletion.flush();
    expect(remove).toHaveBeenCalledExactlyOnceWith("a", true);
  });

  it("shows again what could not be deleted", async () => {
    const failure = new Error("no");
    const { deletion, onFailed } = setUp(vi.fn(() => Promise.reject(failure)));
    deletion.schedule("a");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(deletion.getSnapshot().size).toBe(0);
    expect(onFailed).toHaveBeenCalledWith("a", failure);
  });
});
