import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { printLog } from "./print_log";
import { printTriton } from "./print_triton";
import { parseIndex } from "./test_parser";

const truth = process.env.FUSELENS_TRUTH ?? join(process.cwd(), "../shared/truth");
const logs = join(truth, "recorded/logs");
const here = existsSync(logs);

function texts(pattern: RegExp): string[] {
  const found = new Set<string>();
  for (const file of readdirSync(logs).sort()) {
    if (!file.endsWith(".log")) continue;
    for (const m of readFileSync(join(logs, file), "utf8").matchAll(pattern)) found.add(m[1] ?? "");
  }
  return [...found];
}

/** The text up to the parenthesis that closes the one before it. */
function balanced(text: string): string {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "(") depth++;
    if (text[i] === ")" && depth-- === 0) return text.slice(0, i);
  }
  return text;
}

function wrong(list: readonly string[], print: (text: string) => string | undefined): string[] {
  return list.flatMap(text => {
    const printed = print(text);
    return printed === text ? [] : [`${text} -> ${printed}`];
  });
}

const relog = (text: string): string | undefined => {
  const e = parseIndex(text);
  return e && printLog(e);
};

test.runIf(here)("every index of the recorded loop bodies prints as logged", () => {
  const list = texts(/^\s*index\d+ = (.*)$/gm).filter(t => !t.startsWith("self."));
  expect(list.length).toBeGreaterThan(300);
  expect(
    wrong(
      list.filter(t => !t.includes("tl.") && !t.includes("index")),
      relog,
    ),
  ).toEqual([]);
});

test.runIf(here)("every index and size of the recorded dependencies prints as logged", () => {
  const deps = texts(/MemoryDep\('\w+', ([^{]*, \{[^}]*\})/g);
  const list = new Set<string>();
  for (const dep of deps) {
    const [index, sizes] = dep.split(", {") as [string, string];
    list.add(index);
    for (const part of sizes.slice(0, -1).split(", ")) if (part !== "") list.add(part.slice(part.indexOf(": ") + 2));
  }
  expect(list.size).toBeGreaterThan(500);
  expect(wrong([...list], relog)).toEqual([]);
});

test.runIf(here)("every load and store address of the recorded kernels prints as recorded", () => {
  const list = texts(/tl\.(?:load|store|atomic_add)\(\w+ptr\d+ \+ \((.*)$/gm)
    .map(balanced)
    .filter(t => !t.includes("tl.") && !/\btmp\d/.test(t));
  expect(list.length).toBeGreaterThan(200);
  const retriton = (text: string): string | undefined => {
    const e = parseIndex(text, "triton");
    return e && printTriton(e);
  };
  expect(wrong([...new Set(list)], retriton)).toEqual([]);
});
