// The pre-grad graphs and graph breaks of every recorded program, text for text, where the recordings are at hand.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eagerFrame } from "../evaluate/eager_frame";
import { Evaluator } from "../evaluate/replay";
import { printReadable } from "../fx/print";
import { defaultConfig } from "../presets";
import { capture } from "./capture";

const truth = process.env.FUSELENS_TRUTH ?? join(process.cwd(), "../shared/truth");
const logs = join(truth, "recorded/logs");
const here = existsSync(logs);

function run(path: string): ReturnType<typeof capture> {
  const evaluator = new Evaluator();
  const config = defaultConfig("torch-2.11");
  return capture(path, {
    files: p => {
      const full = join(truth, p);
      return existsSync(full) ? readFileSync(full, "utf8") : undefined;
    },
    config,
    behaviours: new Map(),
    shouldStop: () => false,
    stepBudget: 20_000_000,
    evaluate: (steps, tensor) =>
      evaluator.evaluate(steps, tensor, {
        frameOf: s => eagerFrame(s, path, config),
        behaviours: new Map(),
        budget: 150_000_000,
      }),
  });
}

const withoutAddresses = (s: string): string => s.replace(/0x[0-9a-f]+/g, "0x").trimEnd();

describe.skipIf(!here)("recorded programs", () => {
  const names = here ? readdirSync(logs).map(f => f.replace(/\.log$/, "")) : [];
  it.each(names)("captures %s as torch does", name => {
    const log = readFileSync(join(logs, `${name}.log`), "utf8");
    const dir = existsSync(join(truth, "programs", `${name}.py`)) ? "programs" : "notebook";
    const result = run(`${dir}/${name}.py`);
    const frames = result.events.flatMap(e => (e.kind === "frame" ? [e.frame] : []));
    const got = frames.map(f =>
      printReadable(f.graph, { title: "", className: "GraphModule" }).split("\n").slice(2).join("\n").trimEnd(),
    );
    const want = [...log.matchAll(/ ===== BEFORE PRE GRAD =====\n([\s\S]*?)\n\n\n/g)].map(m => (m[1] ?? "").trimEnd());
    // a float input makes torch restart and print the graph again without it; that second print is AOTAutograd's
    if (frames.some(f => f.inputs.some(i => i.kind === "symfloat"))) want.length = got.length;
    const sym = (s: string): string => s.replace(/"Sym\([\d.e-]+\)"/g, "Sym(number)");
    expect(got.map(sym)).toEqual(want.map(sym));
    const breaks = result.events.flatMap(e => (e.kind === "graph_break" ? [withoutAddresses(e.break.text)] : []));
    const wantBreaks = [...log.matchAll(/\[DEBUG\]:(Graph break in user code[\s\S]*?)\n(?=\[)/g)].map(m =>
      withoutAddresses(m[1] ?? ""),
    );
    expect(breaks).toEqual(wantBreaks);
  });
});
