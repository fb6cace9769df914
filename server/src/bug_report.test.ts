import { describe, expect, it } from "vitest";
import { bugReport, shortened } from "./bug_report";

describe("a bug report", () => {
  it("makes the input as small as still shows the fault", () => {
    const lines = Array.from({ length: 200 }, (_, i) => `x${i} = ${i}\n`);
    const same = (text: string): boolean => text.includes("x3 = 3\n") && text.includes("x177 = 177\n");
    expect(shortened(lines.join(""), same)).toBe("x3 = 3\nx177 = 177\n");
  });

  it("holds a text with fences in one code block", () => {
    const text = '"""\n```\nx\n```\n"""\n';
    expect(bugReport(text)).toContain(`\`\`\`\`python\n${text}\`\`\`\``);
  });
});
