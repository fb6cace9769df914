// Why things did not fuse, as a page: per reason the two sides, what each does with the buffer and where, bytes, what it
// means, a way out. Then how operands of products and convolutions lie, with what the other layout would cost.
import type { ReportLayout, ReportRefusal } from "@fuselens/compiler";
import { REASONS } from "@fuselens/compiler/vocabulary";
import { formatBytes, lineWords } from "../render/units";
import { accessText, detailOf, groupReasons, linesText } from "./hover";
import { layoutMeaning, layoutTexts, layoutTitle, toldLayouts } from "./layouts";
import { codeBlock, escapeMarkdown, inlineCode } from "./markdown";
import type { EditorProgram } from "./model";

export function reasonsPage(
  program: EditorProgram,
  title: string,
  refusals: readonly ReportRefusal[],
  layouts: readonly ReportLayout[],
  lines: readonly string[],
): string {
  const groups = groupReasons(refusals);
  const out = [`# Why not fused: ${escapeMarkdown(title)}`, `Preset ${program.preset}, target ${program.target}.`];
  if (!groups.length) out.push("Nothing here was kept apart at a cost.");
  for (const g of groups) {
    const r = g.refusal;
    const reason = Object.hasOwn(REASONS, r.code) ? REASONS[r.code as keyof typeof REASONS] : null;
    out.push(`## ${formatBytes(g.bytesLost)}: ${reason?.title ?? inlineCode(r.code)}`);
    out.push(
      `${inlineCode(r.a)} (${linesText(r, 0)}) with ${inlineCode(r.b)} (${linesText(r, 1)})` +
        `${g.count > 1 ? `, ${g.count} times` : ""}: ${escapeMarkdown(detailOf(r))} (${inlineCode(r.code)})`,
    );
    const quoted = [...new Set([...r.at[0], ...r.at[1]])].sort((a, b) => a - b);
    const source = quoted.flatMap(l =>
      lines[l - 1] === undefined ? [] : [`${String(l).padStart(4)}  ${lines[l - 1]}`],
    );
    if (source.length) out.push(codeBlock(source.join("\n"), "python"));
    if (r.buffer !== null) {
      const buffer = inlineCode(r.buffer);
      out.push(`- ${accessText(r, "a", buffer, inlineCode)}\n- ${accessText(r, "b", buffer, inlineCode)}`);
    }
    if (reason) out.push(reason.meaning);
    if (reason?.advice) out.push(`**What may help:** ${reason.advice}`);
  }
  const told = toldLayouts(layouts);
  const texts = layoutTexts(told);
  for (const [i, l] of told.entries()) {
    out.push(`## ${layoutTitle(l.code)}: ${lineWords(l.at)}`);
    out.push(`${escapeMarkdown(texts[i] ?? "")} (${inlineCode(l.code)})`);
    const meaning = layoutMeaning(l.code);
    if (meaning !== null) out.push(meaning);
  }
  return `${out.join("\n\n")}\n`;
}
