export const SAMPLE = {
  path: "/samples/office-sales.csv",
  filename: "office-sales.csv",
  description: "Office sales: 612 orders over 18 months",
} as const;

/** The sample goes through the same upload as any file of one's own. */
export async function fetchSample(): Promise<File> {
  const response = await fetch(SAMPLE.path);
  if (!response.ok) throw new Error(`The sample could not be loaded (${response.status}).`);
  return new File([await response.blob()], SAMPLE.filename, { type: "text/csv" });
}
