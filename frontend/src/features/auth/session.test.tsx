// @vitest-environment jsdom
import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sessionQuery, useSignOut } from "./session";

const USER = { id: "u", email: "ana@example.com", role: "user", created_at: "2026-01-01T00:00:00Z" };

beforeEach(() => {
  vi.stubGlobal("fetch", (request: Request) =>
    Promise.resolve(request.url.endsWith("/me") ? Response.json(USER) : new Response(null, { status: 204 })),
  );
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function Page() {
  const session = useQuery(sessionQuery);
  const signOut = useSignOut();
  if (session.data === undefined) return null;
  return session.data ? <button onClick={() => signOut.mutate()}>Sign out</button> : <p>Signed out</p>;
}

describe("useSignOut", () => {
  it("shows the sign-in page and forgets what the person saw", async () => {
    const client = new QueryClient();
    client.setQueryData(["threads", ""], "private");
    render(
      <QueryClientProvider client={client}>
        <Page />
      </QueryClientProvider>,
    );
    (await screen.findByText("Sign out")).click();
    await waitFor(() => expect(screen.getByText("Signed out")).toBeDefined());
    expect(client.getQueryData(["threads", ""])).toBeUndefined();
  });
});
