import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ThreadFile } from "@/api/types";
import { ErrorNote } from "@/components/ui/error-note";
import { Skeleton } from "@/components/ui/skeleton";
import { linkQuery } from "@/features/files/file-queries";

/** Pictures, also SVG, only ever as <img>: scripts inside them then do not run. */
export function ImagePreview({ file }: { file: ThreadFile }) {
  const link = useQuery(linkQuery(file));
  const [isBroken, setIsBroken] = useState(false);
  if (link.isError || isBroken) {
    const retry = () => {
      setIsBroken(false);
      void link.refetch();
    };
    return (
      <ErrorNote error={link.error ?? new Error("This picture cannot be shown.")} onRetry={retry} className="m-4" />
    );
  }
  return (
    <div className="flex min-h-full items-start justify-center bg-white p-4">
      {link.data ? (
        <img src={link.data} alt={file.filename} className="max-w-full" onError={() => setIsBroken(true)} />
      ) : (
        <Skeleton className="h-80 w-full rounded-md" />
      )}
    </div>
  );
}
