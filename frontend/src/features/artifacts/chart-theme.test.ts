import { describe, expect, it } from "vitest";
import { CHART_COLORS, parseSpec, presentSpec, wrapWords } from "./chart-theme";

const LIGHT = { isDark: false, width: 600 };
const DARK = { isDark: true, width: 600 };

describe("presentSpec", () => {
  it("drops what could change how the renderer works", () => {
    const spec = { mark: "bar", usermeta: { embedOptions: { loader: { http: {} }, ast: false } } };
    expect(presentSpec(spec, LIGHT)).not.toHaveProperty("usermeta");
  });

  it("keeps controls inside the chart's own frame", () => {
    const spec = { params: [{ name: "p", bind: { input: "range", element: "#somewhere" } }], mark: "bar" };
    expect(presentSpec(spec, LIGHT).params).toEqual([{ name: "p", bind: { input: "range" } }]);
  });

  it("is as wide as its frame when it is one view", () => {
    expect(presentSpec({ mark: "bar", width: 2000 }, LIGHT)).toMatchObject({ width: 600, height: 340 });
    expect(presentSpec({ mark: "bar", height: 120 }, LIGHT)).toMatchObject({ height: 120 });
    expect(presentSpec({ mark: "bar" }, { ...LIGHT, height: 240 })).toMatchObject({ height: 240 });
  });

  it.each([{ hconcat: [] }, { facet: { field: "x" } }, { encoding: { row: { field: "x" } } }])(
    "leaves the size of several views alone: %o",
    (spec) => {
      expect(presentSpec(spec, LIGHT)).not.toHaveProperty("width");
    },
  );

  it("turns the light palette into the dark one, but not inside the data", () => {
    const spec = {
      mark: { type: "bar", color: CHART_COLORS.light[0].toLowerCase() },
      data: { values: [{ name: CHART_COLORS.light[0] }] },
    };
    expect(presentSpec(spec, DARK)).toMatchObject({ mark: { color: CHART_COLORS.dark[0] }, data: spec.data });
    expect(presentSpec(spec, LIGHT)).toMatchObject({ mark: spec.mark });
  });

  it("keeps a specification's own settings, except for the page's look", () => {
    const spec = { mark: "bar", background: "#fff", config: { axis: { labelAngle: 30, labelColor: "#000" } } };
    const shown = presentSpec(spec, LIGHT);
    expect(shown).toMatchObject({ background: "transparent", config: { axis: { labelAngle: 30 } } });
    expect(JSON.stringify(shown)).not.toContain('"labelColor":"#000"');
  });

  it("breaks a title that is wider than its frame into lines", () => {
    const title = "Revenue more than doubled in eighteen months";
    expect(presentSpec({ mark: "bar", title }, { isDark: false, width: 240 }).title).toEqual([
      "Revenue more than doubled",
      "in eighteen months",
    ]);
    expect(presentSpec({ mark: "bar", title: { text: title } }, LIGHT).title).toEqual({ text: title });
  });
});

describe("wrapWords", () => {
  it("never breaks inside a word", () => {
    expect(wrapWords("a extraordinarily b", 5)).toEqual(["a", "extraordinarily", "b"]);
  });
});

describe("parseSpec", () => {
  it("takes objects only", () => {
    expect(parseSpec("{}")).toEqual({});
    expect(parseSpec("[1]")).toBeNull();
    expect(parseSpec("no")).toBeNull();
  });
});
