import { problemFrom, UnreachableError } from "./problem";

type SignedOutListener = () => void;

const SIGNED_OUT_CODES = new Set(["not_signed_in", "token_expired"]);
const NO_REFRESH = /\/api\/auth\/(login|register|refresh|logout)$/;

let refreshing: Promise<boolean> | null = null;
let onSignedOut: SignedOutListener = () => undefined;

export function listenForSignOut(listener: SignedOutListener): void {
  onSignedOut = listener;
}

/** One refresh at a time: the refresh token rotates, and a second use of the old one would end the session. */
function refreshSession(): Promise<boolean> {
  refreshing ??= refreshAcrossTabs().finally(() => {
    refreshing = null;
  });
  return refreshing;
}

async function refreshAcrossTabs(): Promise<boolean> {
  const refresh = async (): Promise<boolean> => {
    // Another tab may have refreshed while this one waited for the lock; the cookie is shared.
    const current = await fetch("/api/auth/me").catch(() => null);
    if (current?.ok) return true;
    const response = await fetch("/api/auth/refresh", { method: "POST" });
    return response.ok;
  };
  // Locks exist only in secure contexts; without them a single tab is still safe.
  const locks = (navigator as Partial<Navigator>).locks;
  return locks ? locks.request("analyst-session-refresh", refresh) : refresh();
}

async function codeOf(response: Response): Promise<string> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  return problemFrom(body).code;
}

async function send(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new UnreachableError("The server cannot be reached", { cause: error });
  }
}

/** fetch for our own API: an expired access token is refreshed once and the request repeated. */
export async function authorizedFetch(input: Request): Promise<Response> {
  const repeat = input.clone();
  const response = await send(input);
  if (response.status !== 401 || NO_REFRESH.test(new URL(input.url).pathname)) return response;
  const code = await codeOf(response);
  if (!SIGNED_OUT_CODES.has(code)) return response;
  if (code === "token_expired" && (await refreshSession().catch(() => false))) return send(repeat);
  onSignedOut();
  return response;
}
