import type { components } from "./schema";

type Schemas = components["schemas"];

export type User = Schemas["UserOut"];
export type Session = Schemas["SessionOut"];
export type Meta = Schemas["Meta"];
export type Thread = Schemas["ThreadOut"];
export type Run = Schemas["RunOut"];
export type Message = Schemas["MessageOut"];
export type ThreadFile = Schemas["FileOut"];
export type TablePreview = Schemas["TablePreview"];
export type TextPreview = Schemas["TextPreview"];
export type Preview = TablePreview | TextPreview;
export type PresignedUpload = Schemas["PresignUploadOut"];
export type ApiKey = Schemas["ApiKeyOut"];

export type RunStatus = Run["status"];
export type PreviewKind = ThreadFile["preview"];

const ACTIVE_STATUSES: readonly RunStatus[] = ["queued", "running", "awaiting_approval"];

export function isActive(run: Pick<Run, "status"> | null | undefined): boolean {
  return run != null && ACTIVE_STATUSES.includes(run.status);
}
