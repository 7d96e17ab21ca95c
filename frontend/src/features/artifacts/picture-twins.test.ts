import { describe, expect, it } from "vitest";
import { fileOf } from "@/features/chat/conversation-samples";
import { pictureTwins } from "./picture-twins";

describe("pictureTwins", () => {
  it("finds the picture of an interactive chart by its name", () => {
    const files = [
      fileOf({ id: "chart", guest_path: "/artifacts/a.vl.json", preview: "vega-lite" }),
      fileOf({ id: "twin", guest_path: "/artifacts/a.png" }),
      fileOf({ id: "single", guest_path: "/artifacts/b.png" }),
    ];
    expect([...pictureTwins(files)]).toEqual(["twin"]);
  });
});
