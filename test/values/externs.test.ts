// What the compiler leaves to a call of an ATen kernel, the CPU executor has: read off the operators' lowerings, so that a
// new one can't be forgotten. docs/externs.md is the list (vitest -u writes it).
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { families } from "@fuselens/compiler/aten/ops/index";
import { describe, expect, it } from "vitest";
import { isSupportedExtern } from "../../gpu-worker/src/cpu/externs/index";

const OPS = join(__dirname, "..", "..", "compiler", "src", "aten", "ops");
const records = families.flat();

/** a lowering's own text says whether it may come to a call, and doesn't name another operator for it */
const mayCall = (lower: unknown): boolean =>
  /extern(?:Many|Out)?\b|fallback|lowerIndex\b|lowerScatter/.test(String(lower)) && !/\bop: "aten/.test(String(lower));

/** operators named in the records' sources as what is called */
function namedInSources(): string[] {
  const named: string[] = [];
  for (const file of readdirSync(OPS).filter(f => /^\w+\.ts$/.test(f)))
    for (const m of readFileSync(join(OPS, file), "utf8").matchAll(/(?:fallback(?:Many)?\(|\bop:)\s*"(aten\.[\w.]+)"/g))
      named.push(m[1] as string);
  return named;
}

function called(): string[] {
  const named = namedInSources();
  const own = records.filter(r => r.lower && (r.tags?.includes("extern") || mayCall(r.lower))).map(r => r.name);
  return [...new Set([...named, ...own])].sort();
}

function page(ops: readonly string[]): string {
  const packets = new Map<string, string[]>();
  for (const op of ops) {
    const [, packet = "", overload = ""] = op.split(".");
    packets.set(packet, [...(packets.get(packet) ?? []), overload]);
  }
  const rows = [...packets].map(([packet, overloads]) => `| \`${packet}\` | ${overloads.join(", ")} |`);
  return [
    "# Calls",
    "",
    "Operators that a plan may call and not generate: those without a lowering of their own, and those whose lowering gives",
    "up on some arguments. The CPU executor has each of them (`gpu-worker/src/cpu/externs`). This list is written by",
    "`npx vitest run test/values/externs.test.ts -u`.",
    "",
    "| operator | overloads |",
    "|---|---|",
    ...rows,
    "",
  ].join("\n");
}

describe("kernels that are called", () => {
  const ops = called();

  it("are found", () => {
    expect(ops).toEqual(expect.arrayContaining(["aten.mm.default", "aten.sort.stable", "aten._scaled_mm.default"]));
    expect(ops.length).toBeGreaterThan(140);
  });

  it("are all in the CPU executor", () => {
    expect(ops.filter(op => !isSupportedExtern(op))).toEqual([]);
  });

  it("are listed in docs/externs.md", async () => {
    await expect(page(ops)).toMatchFileSnapshot(join(__dirname, "..", "..", "docs", "externs.md"));
  });
});
