// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import Markdown from "./markdown";

afterEach(cleanup);

function html(text: string): string {
  return render(<Markdown text={text} isLive={false} />).container.innerHTML;
}

describe("Markdown", () => {
  it("never loads a picture", () => {
    const shown = html("![pixel](https://evil.example/p.png)");
    expect(shown).not.toContain("<img");
    expect(shown).not.toContain("evil.example");
  });

  it("renders no HTML of the text's own", () => {
    const shown = html('before <iframe src="https://evil.example"></iframe><b onclick="x()">bold</b> after');
    expect(shown).not.toContain("<iframe");
    expect(shown).not.toContain("onclick");
    expect(shown).toContain("after");
  });

  it("marks links to elsewhere and leaves none that could run something", () => {
    const { container } = render(<Markdown text={"[ok](https://example.com) [bad](javascript:alert(1))"} isLive={false} />);
    const links = [...container.querySelectorAll("a")];
    expect(links.map((link) => link.href)).toEqual(["https://example.com/"]);
    expect(links[0]?.rel).toContain("noopener");
    expect(links[0]?.target).toBe("_blank");
  });

  it("renders tables", () => {
    expect(html("| a | b |\n|---|---:|\n| 1 | 2 |")).toContain("<td");
  });
});
