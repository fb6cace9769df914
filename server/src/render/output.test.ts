import { describe, expect, it } from "vitest";
import { jsonText, terminalLine, terminalText } from "./output";

describe("what the command line prints", () => {
  it("shows escape sequences instead of sending them", () => {
    expect(terminalText("a\x1b]0;title\x07b\x9b2J\x7fc\td\n")).toBe("a\\x1b]0;title\\x07b\\x9b2J\\x7fc\td\n");
  });

  it("shows marks that turn the direction of writing", () => {
    expect(terminalText("x\u202ey\u2066")).toBe("x\\u202ey\\u2066");
  });

  it("lets no name make a line of its own", () => {
    expect(terminalLine("f\r\nkernel 9\u2028x\x85y")).toBe("f kernel 9 x y");
  });

  it("leaves a JSON value what it was", () => {
    const value = { name: "a\x9b\u202e\x1b\n", list: [1, "\x7f"] };
    const text = jsonText(value);
    expect(JSON.parse(text)).toEqual(value);
    expect(text).toMatch(/^[\x20-\x7e\n]*$/);
  });
});
