import createClient from "openapi-fetch";
import { authorizedFetch } from "./authorized-fetch";
import { ApiError, problemFrom } from "./problem";
import type { paths } from "./schema";

export const api = createClient<paths>({ baseUrl: window.location.origin, fetch: authorizedFetch });

interface Outcome<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of a successful call; anything else is thrown as an ApiError. */
export async function unwrap<T>(call: Promise<Outcome<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (!response.ok) {
    const problem = problemFrom(error);
    throw new ApiError(response.status, {
      ...problem,
      request_id: problem.request_id ?? response.headers.get("x-request-id"),
    });
  }
  return data as T;
}
