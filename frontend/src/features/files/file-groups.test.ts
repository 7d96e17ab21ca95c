import { describe, expect, it } from "vitest";
import { fileOf } from "@/features/chat/conversation-samples";
import { groupVersions, versionsOf } from "./file-groups";

const FILES = [
  fileOf({ id: "a1", guest_path: "/artifacts/a.png", version: 1, created_at: "2026-01-01T00:00:00Z" }),
  fileOf({ id: "b1", guest_path: "/artifacts/b.png", version: 1, created_at: "2026-01-02T00:00:00Z" }),
  fileOf({ id: "a2", guest_path: "/artifacts/a.png", version: 2, created_at: "2026-01-03T00:00:00Z" }),
];

describe("groupVersions", () => {
  it("shows each path once, by its newest version, newest first", () => {
    expect(groupVersions(FILES).map(({ latest, versions }) => [latest.id, versions.length])).toEqual([
      ["a2", 2],
      ["b1", 1],
    ]);
  });
});

describe("versionsOf", () => {
  it("lists every version of a file, newest first", () => {
    expect(versionsOf(fileOf({ id: "a1", guest_path: "/artifacts/a.png" }), FILES).map(({ id }) => id)).toEqual(["a2", "a1"]);
  });
});
