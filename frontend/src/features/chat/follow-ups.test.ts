import { describe, expect, it } from "vitest";
import { splitFollowUps } from "./follow-ups";

describe("splitFollowUps", () => {
  it("takes the next questions out and keeps what stands around them", () => {
    const answer = "The total is 5.\n\n**You could ask next**\n- By region?\n- *By month?*\n\nI am no language model.";
    expect(splitFollowUps(answer)).toEqual({
      text: "The total is 5.\n\nI am no language model.",
      questions: ["By region?", "By month?"],
    });
  });

  it.each(["## Next questions", "You could ask next:", "**Next you could ask:**"])("knows the heading %s", (heading) => {
    expect(splitFollowUps(`5\n\n${heading}\n\n1. By region?\n2. By month?`).questions).toEqual(["By region?", "By month?"]);
  });

  it("leaves an answer without such a list as it is", () => {
    const answer = "Lists of findings:\n- one\n- two";
    expect(splitFollowUps(answer)).toEqual({ text: answer, questions: [] });
  });
});
