// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { authorizedFetch, listenForSignOut } from "./authorized-fetch";
import { UnreachableError } from "./problem";

type Answer = () => Response;

const calls: string[] = [];
let answers: Record<string, Answer[]> = {};

function refuse(code: string): Answer {
  return () => Response.json({ code }, { status: 401 });
}
const ok: Answer = () => Response.json({ fine: true });

beforeEach(() => {
  calls.length = 0;
  vi.stubGlobal("fetch", (input: Request | string, init?: RequestInit) => {
    const path = typeof input === "string" ? input : new URL(input.url).pathname;
    calls.push(`${typeof input === "string" ? (init?.method ?? "GET") : input.method} ${path}`);
    const next = answers[path]?.shift();
    return next ? Promise.resolve(next()) : Promise.reject(new TypeError("Failed to fetch"));
  });
});
afterEach(() => vi.unstubAllGlobals());

const request = () => new Request("http://localhost/api/threads");

describe("authorizedFetch", () => {
  it("refreshes an expired token once and repeats the request", async () => {
    answers = {
      "/api/threads": [refuse("token_expired"), ok],
      "/api/auth/me": [refuse("token_expired")],
      "/api/auth/refresh": [ok],
    };
    expect((await authorizedFetch(request())).status).toBe(200);
    expect(calls).toEqual(["GET /api/threads", "GET /api/auth/me", "POST /api/auth/refresh", "GET /api/threads"]);
  });

  it("refreshes once for requests that expire together", async () => {
    answers = {
      "/api/threads": [refuse("token_expired"), refuse("token_expired"), ok, ok],
      "/api/auth/me": [refuse("token_expired")],
      "/api/auth/refresh": [ok],
    };
    const both = await Promise.all([authorizedFetch(request()), authorizedFetch(request())]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(calls.filter((call) => call.endsWith("/refresh"))).toHaveLength(1);
  });

  it("does not use the refresh token again when another tab has refreshed already", async () => {
    answers = { "/api/threads": [refuse("token_expired"), ok], "/api/auth/me": [ok] };
    expect((await authorizedFetch(request())).status).toBe(200);
    expect(calls).not.toContain("POST /api/auth/refresh");
  });

  it("says that the person is signed out when the refresh is refused", async () => {
    const signedOut = vi.fn();
    listenForSignOut(signedOut);
    answers = {
      "/api/threads": [refuse("token_expired")],
      "/api/auth/me": [refuse("token_expired")],
      "/api/auth/refresh": [refuse("not_signed_in")],
    };
    expect((await authorizedFetch(request())).status).toBe(401);
    expect(signedOut).toHaveBeenCalledOnce();
  });

  it("never refreshes because of a wrong password", async () => {
    answers = { "/api/auth/login": [refuse("bad_credentials")] };
    await authorizedFetch(new Request("http://localhost/api/auth/login", { method: "POST" }));
    expect(calls).toEqual(["POST /api/auth/login"]);
  });

  it("tells a server that cannot be reached from one that refuses", async () => {
    answers = {};
    await expect(authorizedFetch(request())).rejects.toBeInstanceOf(UnreachableError);
  });
});
