import { lazy, memo, Suspense } from "react";

const Markdown = lazy(() => import("./markdown"));

interface AnswerTextProps {
  text: string;
  isLive: boolean;
}

/** Markdown of an answer. The plain text stands in until the renderer has loaded, so nothing is ever missing. */
export const AnswerText = memo(function AnswerText({ text, isLive }: AnswerTextProps) {
  return (
    <Suspense fallback={<p className="py-2 whitespace-pre-wrap">{text}</p>}>
      <Markdown text={text} isLive={isLive} />
    </Suspense>
  );
});
