import { ExternalLink, ImageOff } from "lucide-react";
import type { ComponentProps } from "react";
import { Streamdown, type Components } from "streamdown";
import { CodeView } from "@/features/artifacts/code-view";

function Link({ href, children }: ComponentProps<"a">) {
  if (!href || !/^(https?:|mailto:)/i.test(href)) return <span>{children}</span>;
  return (
    <a
      href={href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      title={`Opens ${href} in a new tab`}
      className="text-accent-ink underline underline-offset-2"
    >
      {children}
      <ExternalLink aria-label="(opens in a new tab)" className="ml-0.5 inline size-3 align-baseline" />
    </a>
  );
}

/** Pictures are never fetched for a text: an address in it could tell others that, and what, somebody reads. */
function BlockedImage({ alt }: ComponentProps<"img">) {
  return (
    <span className="inline-flex items-center gap-1 rounded-sm bg-sunken px-1.5 text-sm text-ink-3">
      <ImageOff aria-hidden className="size-3.5" />
      {alt ? `${alt} (image not loaded)` : "Image not loaded"}
    </span>
  );
}

function textOfNode(node: unknown): string {
  if (typeof node === "string") return node;
  if (Array.isArray(node)) return node.map(textOfNode).join("");
  return "";
}

function Pre({ children }: ComponentProps<"pre">) {
  return <>{children}</>;
}

function CodeBlock({ className, children }: ComponentProps<"code">) {
  const language = /language-(\S+)/.exec(className ?? "")?.[1] ?? "text";
  return (
    <div className="my-2 overflow-hidden rounded-md border bg-sunken">
      <CodeView code={textOfNode(children).replace(/\n$/, "")} language={language} />
    </div>
  );
}

function InlineCode({ children }: ComponentProps<"code">) {
  return <code>{children}</code>;
}

function Table({ children }: ComponentProps<"table">) {
  return (
    // The table may be wider than the column: it scrolls by itself, also with the keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div role="group" aria-label="Table" tabIndex={0} className="my-3 overflow-x-auto">
      <table>{children}</table>
    </div>
  );
}

// Its type also demands that each component takes any props at all, which no component for one element does.
const COMPONENTS = {
  a: Link,
  img: BlockedImage,
  pre: Pre,
  code: CodeBlock,
  inlineCode: InlineCode,
  table: Table,
} as Components;

export default function Markdown({ text, isLive }: { text: string; isLive: boolean }) {
  return (
    <Streamdown
      className="answer"
      components={COMPONENTS}
      skipHtml
      controls={false}
      isAnimating={isLive}
      mode={isLive ? "streaming" : "static"}
      linkSafety={{ enabled: false }}
    >
      {text}
    </Streamdown>
  );
}
