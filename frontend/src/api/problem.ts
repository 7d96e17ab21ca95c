import * as v from "valibot";

const problemSchema = v.object({
  title: v.optional(v.string(), ""),
  detail: v.optional(v.string(), ""),
  code: v.optional(v.string(), "unknown"),
  request_id: v.optional(v.nullable(v.string()), null),
  run_id: v.optional(v.nullable(v.string()), null),
  errors: v.optional(v.nullable(v.array(v.object({ field: v.string(), message: v.string() }))), null),
});

export type Problem = v.InferOutput<typeof problemSchema>;

/** The server answered, and the answer is a refusal. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(
    readonly status: number,
    readonly problem: Problem,
  ) {
    super(problem.detail || problem.title || `The server answered ${status}`);
  }

  get code(): string {
    return this.problem.code;
  }
}

/** Nobody answered: no network, or the server is down. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}

export function problemFrom(body: unknown): Problem {
  const parsed = v.safeParse(problemSchema, body);
  return parsed.success ? parsed.output : v.parse(problemSchema, {});
}

export async function errorFromResponse(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null);
  const problem = problemFrom(body);
  return new ApiError(response.status, {
    ...problem,
    request_id: problem.request_id ?? response.headers.get("x-request-id"),
  });
}

export interface Explanation {
  happened: string;
  safe: string | null;
  todo: string;
  requestId: string | null;
}

const ADVICE_BY_CODE: Record<string, string> = {
  not_signed_in: "Sign in again.",
  token_expired: "Sign in again.",
  thread_busy: "Wait for the run to end, or stop it first.",
  upload_too_large: "Split the file, or keep only the columns you need.",
  upload_mismatch: "The file may have changed while it was sent. Upload it again.",
  upload_missing: "Upload the file again.",
  upload_expired: "Upload the file again.",
  preview_failed: "You can still download it or ask about it.",
  runtime_unavailable: "Try again in a moment.",
  sandbox_unavailable: "Try again in a moment.",
  storage_unavailable: "Try again in a moment.",
};

function todoFor(error: ApiError): string {
  const known = ADVICE_BY_CODE[error.code];
  if (known) return known;
  if (error.status === 404) return "It may have been deleted. Pick another from the list.";
  if (error.status === 429) return "Wait a moment, then try again.";
  if (error.status >= 500) return "Try again. If it comes back, quote the request id to your operator.";
  return "Check what you entered and try again.";
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

export function explain(error: unknown): Explanation {
  if (error instanceof ApiError) {
    return {
      happened: sentence(error.message),
      safe: error.status >= 500 ? "Your files and conversations are kept." : null,
      todo: todoFor(error),
      requestId: error.problem.request_id,
    };
  }
  if (error instanceof UnreachableError) {
    return {
      happened: "The server cannot be reached.",
      safe: "Your files and conversations are kept, and a running analysis goes on.",
      todo: "Check your connection, then try again.",
      requestId: null,
    };
  }
  return {
    happened: error instanceof Error && error.message ? sentence(error.message) : "Something went wrong in this page.",
    safe: "Your files and conversations are kept.",
    todo: "Try again, or reload the page.",
    requestId: null,
  };
}
