import { CircleAlert, CircleSlash } from "lucide-react";
import { memo } from "react";
import type { ThreadFile } from "@/api/types";
import { Button } from "@/components/ui/button";
import { Spinner } from "@/components/ui/spinner";
import { ArtifactCards } from "@/features/artifacts/artifact-cards";
import { KindIcon } from "@/features/files/file-kinds";
import { AnswerText } from "./answer-text";
import { Plan } from "./plan";
import { splitFollowUps } from "./follow-ups";
import { StepList } from "./step-list";
import type { Block, Turn } from "./turns";

interface TurnViewProps {
  turn: Turn;
  files: readonly ThreadFile[];
  isLast: boolean;
  onOpenFile: (fileId: string) => void;
  onAsk: (question: string) => void;
}

export const TurnView = memo(function TurnView({ turn, files, isLast, onOpenFile, onAsk }: TurnViewProps) {
  const lastText = turn.blocks.findLast(({ kind }) => kind === "text");
  const next = isLast && lastText?.kind === "text" ? splitFollowUps(lastText.text) : null;
  const attached = turn.question.fileIds.flatMap((id) => files.find((file) => file.id === id) ?? []);
  return (
    <div className="py-4" data-testid="turn" data-status={turn.status}>
      <Question text={turn.question.text} attached={attached} onOpenFile={onOpenFile} />
      <div className="mt-3">
        {turn.blocks.map((block) => (
          <BlockView
            key={block.id}
            block={block.kind === "text" && block === lastText && next ? { ...block, text: next.text } : block}
            isLive={turn.isLive}
          />
        ))}
        {turn.isLive && isWaiting(turn) && <Working isSending={turn.status === "sending"} />}
        {turn.artifacts.length > 0 && <ArtifactCards files={turn.artifacts} onOpen={onOpenFile} />}
        {next && !turn.isLive && <NextQuestions questions={next.questions} onAsk={onAsk} />}
        <Ending turn={turn} canAskAgain={isLast && !turn.isLive} onAskAgain={onAsk} />
      </div>
    </div>
  );
});

/** Between steps nothing on the screen moves: one quiet line says that work goes on. */
function isWaiting(turn: Turn): boolean {
  const last = turn.blocks.at(-1);
  if (!last) return true;
  return last.kind === "steps" ? last.steps.every(({ status }) => status !== "running") : last.kind === "plan";
}

function Working({ isSending }: { isSending: boolean }) {
  return (
    <p className="flex min-h-7 items-center gap-2 text-sm text-ink-3">
      <Spinner className="size-3.5 text-accent-ink" />
      {isSending ? "Sending…" : "Working…"}
    </p>
  );
}

interface NextQuestionsProps {
  questions: readonly string[];
  onAsk: (question: string) => void;
}

function NextQuestions({ questions, onAsk }: NextQuestionsProps) {
  if (questions.length === 0) return null;
  return (
    <section aria-label="Next questions" className="mt-4">
      <h2 className="mb-1.5 text-xs text-ink-3">You could ask next</h2>
      <div className="flex flex-wrap gap-2">
        {questions.map((question) => (
          <button
            key={question}
            type="button"
            onClick={() => onAsk(question)}
            className="rounded-full border border-line-strong px-3 py-1 text-left text-sm text-ink-2 hover:border-accent hover:bg-accent-soft hover:text-ink"
          >
            {question}
          </button>
        ))}
      </div>
    </section>
  );
}

interface QuestionProps {
  text: string;
  attached: readonly ThreadFile[];
  onOpenFile: (fileId: string) => void;
}

function Question({ text, attached, onOpenFile }: QuestionProps) {
  return (
    <div className="flex flex-col items-end gap-1.5">
      {attached.length > 0 && (
        <div className="flex flex-wrap justify-end gap-1.5">
          {attached.map((file) => (
            <button
              key={file.id}
              type="button"
              onClick={() => onOpenFile(file.id)}
              className="flex h-7 max-w-72 items-center gap-1.5 rounded-md border px-2 text-sm text-ink-2 hover:bg-hover"
            >
              <KindIcon kind={file.preview} className="size-3.5 shrink-0 text-ink-3" />
              <span className="truncate">{file.filename}</span>
            </button>
          ))}
        </div>
      )}
      <p className="max-w-[85%] rounded-xl rounded-br-sm bg-hover px-3.5 py-2 wrap-anywhere whitespace-pre-wrap">{text}</p>
    </div>
  );
}

function BlockView({ block, isLive }: { block: Block; isLive: boolean }) {
  switch (block.kind) {
    case "text":
      return <AnswerText text={block.text} isLive={isLive} />;
    case "steps":
      return <StepList steps={block.steps} />;
    case "plan":
      return <Plan items={block.items} />;
  }
}

interface EndingProps {
  turn: Turn;
  canAskAgain: boolean;
  onAskAgain: (question: string) => void;
}

function Ending({ turn, canAskAgain, onAskAgain }: EndingProps) {
  if (turn.status === "cancelled") {
    return (
      <p className="mt-2 flex items-center gap-2 text-sm text-ink-3">
        <CircleSlash aria-hidden className="size-3.5" /> You stopped this. What was made so far is kept.
      </p>
    );
  }
  if (turn.status !== "failed" && !(turn.error && !turn.isLive)) return null;
  return (
    <div role="alert" className="mt-3 flex gap-2.5 rounded-md border border-line-strong bg-bad-soft p-3 text-sm">
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      <div className="min-w-0">
        <p className="font-medium">{turn.error?.message ?? "This did not work out."}</p>
        <p className="text-ink-2">Your files and the results so far are kept. You can ask again.</p>
        <p className="mt-0.5 font-mono text-xs break-all text-ink-3">Run {turn.id}</p>
        {canAskAgain && (
          <Button size="sm" className="mt-2" onClick={() => onAskAgain(turn.question.text)}>
            Ask again
          </Button>
        )}
      </div>
    </div>
  );
}
