import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import type { ThemedToken } from "shiki/core";
import { useTheme } from "@/app/theme";
import { cn } from "@/components/ui/class-names";
import { IconButton } from "@/components/ui/icon-button";

interface CodeViewProps {
  code: string;
  language: string;
  maxHeight?: number;
  lineNumbers?: boolean;
}

export function CodeView({ code, language, maxHeight, lineNumbers = false }: CodeViewProps) {
  const lines = useTokens(code, language);
  return (
    <div className="group/code relative">
      {/* Long code scrolls inside its frame, also with the keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div role="group" aria-label="Code" tabIndex={0} className="overflow-auto focus-visible:-outline-offset-2" style={{ maxHeight }}>
        <pre className="w-max min-w-full px-3 py-2.5 font-mono text-xs leading-5">
          <code className={cn(lineNumbers && "[counter-reset:line]")}>
            {lines
              ? lines.map((line, index) => <Line key={index} tokens={line} numbered={lineNumbers} />)
              : code.split("\n").map((line, index) => (
                  <Line key={index} tokens={[{ content: line, offset: 0 }]} numbered={lineNumbers} />
                ))}
          </code>
        </pre>
      </div>
      <CopyButton text={code} />
    </div>
  );
}

function Line({ tokens, numbered }: { tokens: readonly ThemedToken[]; numbered: boolean }) {
  return (
    <span
      className={cn(
        "block min-h-5",
        numbered &&
          "[counter-increment:line] before:mr-4 before:inline-block before:w-8 before:text-right before:text-ink-3 before:content-[counter(line)] before:select-none",
      )}
    >
      {tokens.map((token, index) => (
        <span key={index} style={{ color: token.color }}>
          {token.content}
        </span>
      ))}
    </span>
  );
}

function CopyButton({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  const clipboard = (navigator as Partial<Navigator>).clipboard;
  if (!clipboard) return null;
  return (
    <IconButton
      label={copied ? "Copied" : "Copy code"}
      size="icon-sm"
      side="left"
      className="absolute top-1 right-1 bg-sunken opacity-0 group-hover/code:opacity-100 focus-visible:opacity-100"
      onClick={() =>
        void clipboard.writeText(text).then(() => {
          setCopied(true);
          setTimeout(() => setCopied(false), 1_500);
        })
      }
    >
      {copied ? <Check aria-hidden /> : <Copy aria-hidden />}
    </IconButton>
  );
}

interface Highlighted {
  code: string;
  language: string;
  isDark: boolean;
  lines: ThemedToken[][] | null;
}

function useTokens(code: string, language: string): ThemedToken[][] | null {
  const { isDark } = useTheme();
  const [result, setResult] = useState<Highlighted | null>(null);

  useEffect(() => {
    let current = true;
    import("./highlighter")
      .then(({ tokenize }) => tokenize(code, language, isDark))
      .then((lines) => {
        if (current) setResult({ code, language, isDark, lines });
      })
      .catch(() => {
        // Colour is a nicety: without it the code stands there plain.
        if (current) setResult(null);
      });
    return () => {
      current = false;
    };
  }, [code, language, isDark]);

  const fits = result?.code === code && result.language === language && result.isDark === isDark;
  return fits ? result.lines : null;
}
