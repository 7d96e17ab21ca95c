import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import { ApiError } from "@/api/problem";
import type { User } from "@/api/types";

export const sessionKey = ["session"] as const;

/** The signed-in person, or null. */
export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  queryFn: async (): Promise<User | null> => {
    try {
      return await unwrap(api.GET("/api/auth/me"));
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: Infinity,
});

export const metaQuery = queryOptions({
  queryKey: ["meta"] as const,
  queryFn: () => unwrap(api.GET("/api/meta")),
  staleTime: 5 * 60_000,
});

const PUBLIC_KEYS = new Set<unknown>([sessionKey[0], metaQuery.queryKey[0]]);

export function useMeta() {
  return useQuery(metaQuery);
}

export interface Credentials {
  email: string;
  password: string;
}

export function useSignIn(mode: "login" | "register") {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Credentials) =>
      unwrap(mode === "login" ? api.POST("/api/auth/login", { body }) : api.POST("/api/auth/register", { body })),
    onSuccess: ({ user }) => client.setQueryData(sessionKey, user),
  });
}

export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.POST("/api/auth/logout")),
    onSuccess: () => {
      client.setQueryData(sessionKey, null);
      // Nothing of this person stays for the next one; what is known before signing in may.
      client.removeQueries({ predicate: ({ queryKey }) => !PUBLIC_KEYS.has(queryKey[0]) });
    },
  });
}
