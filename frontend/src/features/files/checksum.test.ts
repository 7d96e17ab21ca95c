import { describe, expect, it } from "vitest";
import { sha256Of } from "./checksum";

describe("sha256Of", () => {
  it("gives the hexadecimal digest of the content", async () => {
    expect(await sha256Of(new Blob(["abc"]))).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });

  it("leaves large files to the server", async () => {
    const large = { size: 65 * 1024 * 1024, arrayBuffer: () => Promise.reject(new Error("must not be read")) };
    expect(await sha256Of(large as unknown as Blob)).toBeNull();
  });
});
