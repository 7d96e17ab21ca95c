import type { TablePreview } from "@/api/types";

type Cell = string | number | boolean | null;

interface Column {
  name: string;
  type: string;
  values: Cell[];
}

const NUMBER_TYPE = /int|float|double|decimal|number|numeric/i;
const MEASURE_NAME = /revenue|sales|amount|total|profit|income|price|value|spend|cost|score|count|quantity|units|rate/i;
const IDENTIFIER_NAME = /(^|[\s_-])(id|uuid|code|zip|postcode|phone|index|key|no|nr)$|^(id|year|month|day|lat|lon|lng|latitude|longitude)$/i;
const DATE_NAME = /date|time|month|week|day|period|created|updated/i;
const DATE_VALUE = /^\d{4}[-/]\d{1,2}([-/]\d{1,2})?([T ].*)?$|^\d{1,2}[./-]\d{1,2}[./-]\d{2,4}$/;
const MAX_CATEGORIES = 25;

function isCell(value: unknown): value is Cell {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

function columnsOf(table: TablePreview): Column[] {
  return table.columns.map((column, index) => ({
    ...column,
    values: table.rows.map((row) => row[index]).filter(isCell).filter((value) => value !== null && value !== ""),
  }));
}

function isNumeric(column: Column): boolean {
  return NUMBER_TYPE.test(column.type) && !IDENTIFIER_NAME.test(column.name);
}

function isDate(column: Column): boolean {
  if (/date|time/i.test(column.type)) return true;
  const matching = column.values.filter((value) => DATE_VALUE.test(String(value))).length;
  if (column.values.length > 0 && matching / column.values.length > 0.9) return true;
  return matching > 0 && DATE_NAME.test(column.name);
}

function isCategory(column: Column): boolean {
  if (isNumeric(column) || isDate(column) || IDENTIFIER_NAME.test(column.name)) return false;
  const distinct = new Set(column.values).size;
  return distinct > 1 && distinct <= Math.min(MAX_CATEGORIES, Math.max(2, column.values.length / 2));
}

function pickMeasure(columns: readonly Column[]): Column | undefined {
  const numeric = columns.filter(isNumeric);
  const named = (pattern: RegExp) => numeric.find(({ name }) => pattern.test(name));
  return named(/revenue|sales|amount|profit|income|total/i) ?? named(MEASURE_NAME) ?? numeric[0];
}

/** Three questions that this table can answer, the most telling first. */
export function suggestQuestions(table: TablePreview): string[] {
  const columns = columnsOf(table);
  const measure = pickMeasure(columns);
  const date = columns.find(isDate);
  const categories = columns.filter(isCategory);
  const [category, second] = categories;
  const other = columns.find((column) => isNumeric(column) && column !== measure);
  const questions: string[] = [];
  if (measure && date) questions.push(`Chart ${measure.name} by month`);
  if (measure && category) questions.push(`Which ${category.name} has the highest total ${measure.name}?`);
  if (measure && second && questions.length < 2) questions.push(`Compare average ${measure.name} by ${second.name}`);
  if (measure && other && questions.length < 2) questions.push(`How are ${measure.name} and ${other.name} related?`);
  if (measure && questions.length < 2) questions.push(`Show the distribution of ${measure.name}`);
  if (category && questions.length < 2) questions.push(`Count the rows by ${category.name}`);
  questions.push("What is in this file? Check types, gaps and duplicates");
  return questions.slice(0, 3);
}
