/**
 * The one palette of charts, told apart also in the usual kinds of colour blindness. The light one is what the
 * sandbox's own chart style uses, so that a picture and an interactive chart look alike; the dark one answers it.
 */
export const CHART_COLORS = {
  light: ["#1F6FB5", "#E08A1E", "#0F9D78", "#B8478F", "#5AB0E0", "#C4521B", "#7A6FB8", "#8A8F98"],
  dark: ["#5AA5E0", "#F0A54A", "#3FC39C", "#DD85BD", "#92CEF2", "#EF8A5C", "#A9A0E3", "#A9AEB7"],
} as const;

const INK = {
  light: { text: "#191A1D", muted: "#4F535B", grid: "#E5E5E2", axis: "#CFCFCB" },
  dark: { text: "#EBECEE", muted: "#B0B4BC", grid: "#2A2C31", axis: "#40434A" },
} as const;

/** The greys that the sandbox's style writes into a specification, and what they become on dark. */
const STYLE_GREYS: Record<string, string> = {
  "#1F2937": INK.dark.text,
  "#4B5563": INK.dark.muted,
  "#E6E9ED": INK.dark.grid,
  "#C7CCD3": INK.dark.axis,
  "#F4F4F2": "#303338",
  "#EAF2F9": "#1B2A38",
};

const DARK_COLOR_OF = new Map<string, string>([
  ...CHART_COLORS.light.map((color, index): [string, string] => [color, CHART_COLORS.dark[index] ?? color]),
  ...Object.entries(STYLE_GREYS),
]);

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif';
const TITLE_CHAR_PX = 8.3;
const SUBTITLE_CHAR_PX = 6.6;
const MIN_LINE_CHARS = 16;
const COMPOSITIONS = ["facet", "repeat", "concat", "hconcat", "vconcat"];
const DATA_KEYS = new Set(["data", "datasets"]);

export type VegaSpec = Record<string, unknown>;

export interface ChartFrame {
  isDark: boolean;
  /** Pixels. */
  width: number;
  /** Pixels; without it the specification's own height counts. */
  height?: number;
}

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

/** What counts where a specification says nothing itself. */
function defaults(isDark: boolean): Record<string, unknown> {
  const colors = CHART_COLORS[isDark ? "dark" : "light"];
  return {
    view: { stroke: null },
    title: { anchor: "start", fontSize: 14, fontWeight: 600, subtitleFontSize: 12, offset: 12 },
    axis: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" },
    axisX: { grid: false },
    axisY: { domain: false },
    legend: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" },
    mark: { color: colors[0] },
    range: { category: [...colors] },
  };
}

/** What the page decides: ink, lines and font. */
function look(isDark: boolean): Record<string, unknown> {
  const ink = INK[isDark ? "dark" : "light"];
  const labels = { labelColor: ink.muted, titleColor: ink.muted, labelFont: FONT, titleFont: FONT };
  return {
    background: "transparent",
    font: FONT,
    title: { color: ink.text, subtitleColor: ink.muted, font: FONT, subtitleFont: FONT },
    axis: { ...labels, gridColor: ink.grid, domainColor: ink.axis, tickColor: ink.axis },
    legend: labels,
    header: { ...labels, titleColor: ink.text },
    text: { color: ink.text, font: FONT },
  };
}

function isSingleView(spec: VegaSpec): boolean {
  if (COMPOSITIONS.some((key) => key in spec)) return false;
  const encoding = spec.encoding;
  return !(isObject(encoding) && ["facet", "row", "column"].some((channel) => channel in encoding));
}

function without(object: Record<string, unknown>, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
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

function onDark(value: unknown): unknown {
  if (typeof value === "string") return DARK_COLOR_OF.get(value.toUpperCase()) ?? value;
  if (Array.isArray(value)) return value.map(onDark);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, DATA_KEYS.has(key) ? child : onDark(child)]),
  );
}

export function wrapWords(text: string, charsPerLine: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= charsPerLine) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function wrapped(text: unknown, width: number, charPx: number): unknown {
  if (typeof text !== "string") return text;
  const lines = wrapWords(text, Math.max(MIN_LINE_CHARS, Math.floor(width / charPx)));
  return lines.length > 1 ? lines : text;
}

function wrappedTitle(title: unknown, width: number): unknown {
  if (!isObject(title)) return wrapped(title, width, TITLE_CHAR_PX);
  return {
    ...title,
    text: wrapped(title.text, width, TITLE_CHAR_PX),
    ...("subtitle" in title ? { subtitle: wrapped(title.subtitle, width, SUBTITLE_CHAR_PX) } : {}),
  };
}

/**
 * The specification as it is shown: in the page's look, as wide as its frame, and without what could reach out of it
 * (`usermeta` sets options of the renderer, a binding can name elements of the page).
 */
export function presentSpec(spec: VegaSpec, { isDark, width, height }: ChartFrame): VegaSpec {
  const safe = withoutPageElements(without(spec, "usermeta"));
  const colored = isDark ? onDark(safe) : safe;
  if (!isObject(colored)) return {};
  const own = isObject(colored.config) ? colored.config : {};
  const presented: VegaSpec = {
    ...colored,
    background: "transparent",
    padding: 4,
    config: merge(merge(defaults(isDark), own), look(isDark)),
    ...("title" in colored ? { title: wrappedTitle(colored.title, width - 24) } : {}),
  };
  if (!isSingleView(presented)) return presented;
  return {
    ...presented,
    width: Math.max(120, width),
    height: height ?? presented.height ?? 340,
    autosize: { type: "fit", contains: "padding" },
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
