import type { ThreadFile } from "@/api/types";

function stem(file: ThreadFile): string {
  return file.guest_path.replace(/\.(vl\.json|vega\.json|png|svg)$/i, "");
}

/** Pictures that show what an interactive chart beside them shows already: `name.png` beside `name.vl.json`. */
export function pictureTwins(files: readonly ThreadFile[]): ReadonlySet<string> {
  const charts = new Set(files.filter(({ preview }) => preview === "vega-lite").map(stem));
  return new Set(files.filter((file) => file.preview === "image" && charts.has(stem(file))).map(({ id }) => id));
}
