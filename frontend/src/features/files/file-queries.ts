import { queryOptions, useMutation, useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import type { Preview, ThreadFile } from "@/api/types";

export const fileKeys = {
  list: (threadId: string) => ["files", threadId] as const,
  preview: (fileId: string, sheet: string | null, offset: number) => ["preview", fileId, sheet, offset] as const,
  link: (fileId: string) => ["file-link", fileId] as const,
};

async function fetchFiles(threadId: string): Promise<ThreadFile[]> {
  const list = await unwrap(api.GET("/api/threads/{thread_id}/files", { params: { path: { thread_id: threadId } } }));
  return list.items;
}

export function useFiles(threadId: string | null) {
  return useQuery({
    queryKey: fileKeys.list(threadId ?? ""),
    queryFn: () => fetchFiles(threadId ?? ""),
    enabled: threadId !== null,
  });
}

/** Put a file that was just announced into the list, newest first. */
export function addFileToCache(client: QueryClient, file: ThreadFile): void {
  client.setQueryData<ThreadFile[]>(fileKeys.list(file.thread_id), (files = []) => [
    file,
    ...files.filter(({ id }) => id !== file.id),
  ]);
}

export const PREVIEW_PAGE_ROWS = 200;

export function previewQuery(file: Pick<ThreadFile, "id" | "thread_id">, sheet: string | null, offset: number) {
  return queryOptions({
    queryKey: fileKeys.preview(file.id, sheet, offset),
    queryFn: ({ signal }): Promise<Preview> =>
      unwrap(
        api.GET("/api/threads/{thread_id}/files/{file_id}/preview", {
          params: {
            path: { thread_id: file.thread_id, file_id: file.id },
            query: { sheet, offset, limit: PREVIEW_PAGE_ROWS },
          },
          signal,
        }),
      ),
    // A version of a file never changes.
    staleTime: Infinity,
    gcTime: 10 * 60_000,
    retry: 1,
  });
}

export async function presignDownload(
  file: Pick<ThreadFile, "id" | "thread_id">,
  disposition: "inline" | "attachment",
): Promise<string> {
  const { url } = await unwrap(
    api.POST("/api/files/presign-download", {
      body: { thread_id: file.thread_id, file_id: file.id, disposition },
    }),
  );
  return url;
}

export async function downloadFile(file: ThreadFile): Promise<void> {
  const link = document.createElement("a");
  link.href = await presignDownload(file, "attachment");
  link.download = file.filename;
  link.rel = "noopener";
  link.click();
}

/** The whole content of a file as text, straight from the object store. */
export function contentQuery(file: ThreadFile) {
  return queryOptions({
    queryKey: ["file-content", file.id] as const,
    queryFn: async ({ signal }) => {
      const response = await fetch(await presignDownload(file, "inline"), { signal });
      if (!response.ok) throw new Error(`The file store answered ${response.status}.`);
      return response.text();
    },
    staleTime: Infinity,
    retry: 1,
  });
}

/** An address that an <img> can show; renewed before its signature runs out. */
export function linkQuery(file: ThreadFile) {
  return queryOptions({
    queryKey: fileKeys.link(file.id),
    queryFn: () => presignDownload(file, "inline"),
    staleTime: 10 * 60_000,
    gcTime: 10 * 60_000,
  });
}

export function useDeleteFile() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (file: ThreadFile) => {
      await unwrap(
        api.DELETE("/api/threads/{thread_id}/files/{file_id}", {
          params: { path: { thread_id: file.thread_id, file_id: file.id } },
        }),
      );
    },
    onSettled: (_data, _error, file) => client.invalidateQueries({ queryKey: fileKeys.list(file.thread_id) }),
  });
}
