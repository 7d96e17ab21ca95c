import embed, { type Result } from "vega-embed";
import { expressionInterpreter } from "vega-interpreter";
import type { Loader } from "vega";
import type { VegaSpec } from "./chart-theme";

function refuse(): Promise<never> {
  return Promise.reject(new Error("Charts may not load anything from elsewhere"));
}

/** Data and pictures come with the specification or not at all. */
const closedLoader: Loader = { load: refuse, sanitize: refuse, http: refuse, file: refuse };

const LARGE_SPEC_CHARS = 400_000;

/** Draw a Vega-Lite specification. Expressions are interpreted, not compiled: the page's policy forbids eval. */
export function drawChart(element: HTMLElement, spec: VegaSpec): Promise<Result> {
  return embed(element, spec, {
    actions: false,
    ast: true,
    expr: expressionInterpreter,
    loader: closedLoader,
    renderer: JSON.stringify(spec).length > LARGE_SPEC_CHARS ? "canvas" : "svg",
    tooltip: { theme: document.documentElement.classList.contains("dark") ? "dark" : "light" },
    // A chart listens to itself, never to other elements of the page.
    patch: (compiled) => ({ ...compiled, config: { ...compiled.config, events: { selector: false } } }),
  });
}

export type { Result as DrawnChart };
