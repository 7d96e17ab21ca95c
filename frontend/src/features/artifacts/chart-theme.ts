/** The one palette of charts: told apart also with red-green and blue-yellow colour blindness, on light and on dark. */
export const CHART_COLORS = {
  light: ["#1f5fd0", "#d97706", "#0f8a6c", "#b0408a", "#5f6672", "#b59100", "#4b9fdc", "#9c3d2e"],
  dark: ["#6ea2ff", "#f5a34a", "#3fc7a3", "#e58ac6", "#a3a9b5", "#e2c44d", "#8ccbf5", "#ef8f7d"],
} as const;

const INK = {
  light: { text: "#191a1d", muted: "#4f535b", grid: "#e5e5e2", axis: "#cfcfcb" },
  dark: { text: "#ebecee", muted: "#b0b4bc", grid: "#2a2c31", axis: "#40434a" },
} as const;

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif';

export type VegaSpec = Record<string, unknown>;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function merge(base: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const held = merged[key];
    merged[key] = isObject(held) && isObject(value) ? merge(held, value) : value;
  }
  return merged;
}

function themeConfig(isDark: boolean): Record<string, unknown> {
  const mode = isDark ? "dark" : "light";
  const ink = INK[mode];
  const colors = CHART_COLORS[mode];
  return {
    background: "transparent",
    font: FONT,
    view: { stroke: "transparent" },
    title: { color: ink.text, subtitleColor: ink.muted, anchor: "start", fontSize: 14, fontWeight: 600, subtitleFontSize: 12, offset: 12 },
    axis: {
      labelColor: ink.muted,
      titleColor: ink.muted,
      gridColor: ink.grid,
      domainColor: ink.axis,
      tickColor: ink.axis,
      labelFontSize: 12,
      titleFontSize: 12,
      titleFontWeight: 500,
    },
    legend: { labelColor: ink.muted, titleColor: ink.muted, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500 },
    header: { labelColor: ink.muted, titleColor: ink.text },
    text: { color: ink.text },
    mark: { color: colors[0] },
    bar: { color: colors[0] },
    line: { color: colors[0] },
    area: { color: colors[0] },
    point: { color: colors[0] },
    rect: { color: colors[0] },
    arc: { color: colors[0] },
    range: { category: [...colors] },
  };
}

function without(object: Record<string, unknown>, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}

const COMPOSITIONS = ["facet", "repeat", "concat", "hconcat", "vconcat"];

function isSingleView(spec: VegaSpec): boolean {
  if (COMPOSITIONS.some((key) => key in spec)) return false;
  const encoding = spec.encoding;
  return !(isObject(encoding) && ["facet", "row", "column"].some((channel) => channel in encoding));
}

/** References to elements of the page: a chart may have controls, but only inside its own frame. */
function withoutPageElements(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPageElements);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => {
      const isPageBinding = key === "bind" && isObject(child);
      return [key, withoutPageElements(isPageBinding ? without(child, "element") : child)];
    }),
  );
}

export interface ChartSize {
  /** Pixels; the width always follows the container. */
  height?: number;
}

/**
 * The specification as it is shown: our colours over its own, as wide as its container, and without what
 * `usermeta` could switch on in the renderer.
 */
export function presentSpec(spec: VegaSpec, isDark: boolean, { height }: ChartSize = {}): VegaSpec {
  const safe = withoutPageElements(without(spec, "usermeta"));
  if (!isObject(safe)) return {};
  const config = merge(isObject(safe.config) ? safe.config : {}, themeConfig(isDark));
  const themed: VegaSpec = { ...safe, background: "transparent", config };
  if (!isSingleView(themed)) return themed;
  return {
    ...themed,
    width: "container",
    height: height ?? themed.height ?? 340,
    autosize: { type: "fit", contains: "padding", resize: true },
  };
}

export function parseSpec(text: string): VegaSpec | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
