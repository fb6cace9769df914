import { describe, expect, it } from "vitest";
import { escapeMarkdown } from "../../server/src/ide/markdown";

describe("escapeMarkdown", () => {
  it("leaves no address that a viewer would make a link of", () => {
    expect(escapeMarkdown("<https://evil.example/> and a@b.c")).toBe("&lt;https\\://evil\\.example/&gt; and a\\@b\\.c");
  });
});
