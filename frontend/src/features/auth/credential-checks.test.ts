import { describe, expect, it } from "vitest";
import { checkCredentials } from "./credential-checks";

describe("checkCredentials", () => {
  it("asks for what is missing", () => {
    expect(checkCredentials({ email: " ", password: "" }, false)).toEqual({
      email: "Enter your email address.",
      password: "Enter your password.",
    });
  });

  it("demands a long enough password of a new account only", () => {
    const typed = { email: "a@b.example", password: "short" };
    expect(checkCredentials(typed, true).password).toContain("8");
    expect(checkCredentials(typed, false)).toEqual({});
  });

  it("notices what cannot be an address", () => {
    expect(checkCredentials({ email: "ana", password: "long enough" }, true).email).toBeDefined();
  });
});
