export interface SplitAnswer {
  /** The answer without its list of next questions. */
  text: string;
  questions: readonly string[];
}

const HEADING = /^(?:#{1,6}\s+|\*\*)?(?:you could ask next|next you could ask|next questions|you could also ask)\s*:?(?:\*\*)?\s*:?\s*$/i;
const ITEM = /^\s*(?:[-*•]|\d+[.)])\s+(.+?)\s*$/;
const MAX_QUESTIONS = 5;

function plain(item: string): string {
  return item.replace(/^["“”*_`]+|["“”*_`]+$/g, "");
}

/** Take the list of next questions out of an answer, so that each can be asked with one click. */
export function splitFollowUps(answer: string): SplitAnswer {
  const lines = answer.split("\n");
  const heading = lines.findIndex((line) => HEADING.test(line.trim()));
  if (heading < 0) return { text: answer, questions: [] };
  let end = heading + 1;
  const questions: string[] = [];
  while (end < lines.length) {
    const line = lines[end] ?? "";
    const item = ITEM.exec(line)?.[1];
    if (item) questions.push(plain(item));
    else if (line.trim() || questions.length > 0) break;
    end += 1;
  }
  const text = [...lines.slice(0, heading), ...lines.slice(end)].join("\n").replace(/\n{3,}/g, "\n\n").trim();
  return { text, questions: questions.slice(0, MAX_QUESTIONS) };
}
