import { createHighlighterCore, type HighlighterCore, type ThemedToken } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";

const LANGUAGES = {
  python: () => import("shiki/langs/python.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  bash: () => import("shiki/langs/bash.mjs"),
  javascript: () => import("shiki/langs/javascript.mjs"),
  typescript: () => import("shiki/langs/typescript.mjs"),
  html: () => import("shiki/langs/html.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  xml: () => import("shiki/langs/xml.mjs"),
  markdown: () => import("shiki/langs/markdown.mjs"),
  r: () => import("shiki/langs/r.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
} as const;

type Language = keyof typeof LANGUAGES;

const ALIASES: Record<string, Language> = { py: "python", sh: "bash", shell: "bash", js: "javascript", ts: "typescript", yml: "yaml", md: "markdown", htm: "html" };
const THEMES = { light: "github-light-high-contrast", dark: "github-dark-default" } as const;
const MAX_HIGHLIGHTED_CHARS = 200_000;

let highlighter: Promise<HighlighterCore> | null = null;

/** The JavaScript engine instead of Oniguruma: the page then needs no WebAssembly. */
function loadHighlighter(): Promise<HighlighterCore> {
  highlighter ??= createHighlighterCore({
    themes: [import("shiki/themes/github-light-high-contrast.mjs"), import("shiki/themes/github-dark-default.mjs")],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
  return highlighter;
}

function isLanguage(name: string): name is Language {
  return name in LANGUAGES;
}

/** Coloured tokens, line by line; null for a language or a size that is shown plain. */
export async function tokenize(code: string, language: string, isDark: boolean): Promise<ThemedToken[][] | null> {
  const name = ALIASES[language] ?? language;
  if (!isLanguage(name) || code.length > MAX_HIGHLIGHTED_CHARS) return null;
  const core = await loadHighlighter();
  await core.loadLanguage(LANGUAGES[name]);
  return core.codeToTokens(code, { lang: name, theme: isDark ? THEMES.dark : THEMES.light }).tokens;
}
