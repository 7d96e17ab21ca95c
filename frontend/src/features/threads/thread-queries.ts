import {
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type InfiniteData,
  type QueryClient,
} from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import { isActive, type Thread } from "@/api/types";

interface ThreadPage {
  items: Thread[];
  next_cursor: string | null;
}

export const threadKeys = {
  all: ["threads"] as const,
  list: (query: string) => ["threads", query] as const,
  one: (threadId: string) => ["thread", threadId] as const,
};

const BUSY_POLL_MS = 4_000;

export function useThreads(query: string) {
  return useInfiniteQuery({
    queryKey: threadKeys.list(query),
    queryFn: ({ pageParam, signal }): Promise<ThreadPage> =>
      unwrap(
        api.GET("/api/threads", {
          params: { query: { limit: 50, query: query || undefined, cursor: pageParam ?? undefined } },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.items.some(({ active_run }) => isActive(active_run))) ? BUSY_POLL_MS : false,
  });
}

export function useThread(threadId: string | null) {
  return useQuery({
    queryKey: threadKeys.one(threadId ?? ""),
    queryFn: () =>
      unwrap(api.GET("/api/threads/{thread_id}", { params: { path: { thread_id: threadId ?? "" } } })),
    enabled: threadId !== null,
  });
}

export async function createThread(client: QueryClient): Promise<Thread> {
  const thread = await unwrap(api.POST("/api/threads", { body: {} }));
  client.setQueryData(threadKeys.one(thread.id), thread);
  void client.invalidateQueries({ queryKey: threadKeys.all });
  return thread;
}

function renameInLists(client: QueryClient, threadId: string, title: string): void {
  client.setQueriesData<InfiniteData<ThreadPage>>({ queryKey: threadKeys.all }, (data) =>
    data && {
      ...data,
      pages: data.pages.map((page) => ({
        ...page,
        items: page.items.map((thread) => (thread.id === threadId ? { ...thread, title } : thread)),
      })),
    },
  );
  client.setQueryData<Thread>(threadKeys.one(threadId), (thread) => thread && { ...thread, title });
}

export function useRenameThread() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ threadId, title }: { threadId: string; title: string }) =>
      unwrap(api.PATCH("/api/threads/{thread_id}", { params: { path: { thread_id: threadId } }, body: { title } })),
    onMutate: ({ threadId, title }) => renameInLists(client, threadId, title),
    onSettled: (_data, _error, { threadId }) =>
      Promise.all([
        client.invalidateQueries({ queryKey: threadKeys.all }),
        client.invalidateQueries({ queryKey: threadKeys.one(threadId) }),
      ]),
  });
}

export async function deleteThread(threadId: string, options: { keepalive?: boolean } = {}): Promise<void> {
  await unwrap(
    api.DELETE("/api/threads/{thread_id}", {
      params: { path: { thread_id: threadId } },
      keepalive: options.keepalive ?? false,
    }),
  );
}
