import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useRoute } from "wouter";
import { listenForSignOut } from "@/api/authorized-fetch";
import { sessionKey, sessionQuery } from "@/features/auth/session";
import { SignInPage } from "@/features/auth/sign-in-page";
import { ErrorNote } from "@/components/ui/error-note";
import { Mark } from "@/components/ui/mark";
import { Shell } from "./shell";

export function App() {
  const client = useQueryClient();
  const session = useQuery(sessionQuery);
  // One route pattern above one shell: moving between threads keeps its streams and uploads.
  const [, params] = useRoute("/t/:threadId");

  useEffect(() => listenForSignOut(() => client.setQueryData(sessionKey, null)), [client]);

  if (session.isPending) {
    return (
      <div role="status" aria-label="Loading" className="grid h-full place-items-center">
        <Mark className="size-8 animate-pulse" />
      </div>
    );
  }
  if (session.isError) {
    return (
      <div className="grid h-full place-items-center p-6">
        <ErrorNote error={session.error} onRetry={() => void session.refetch()} className="max-w-md" />
      </div>
    );
  }
  if (!session.data) return <SignInPage />;
  return <Shell key={session.data.id} user={session.data} threadId={params?.threadId ?? null} />;
}
