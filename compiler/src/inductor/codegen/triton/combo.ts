// Several kernels as one launch (torch/_inductor/codegen/triton_combo_kernel.py). In: emitted sub-kernels. Out: the
// source of the combined kernel: one body per range of program ids. Promises: sub-kernels are independent; the form is
// the preset's: bodies in one function with shared block sizes, or one function and block sizes per body.
import type { TritonMeta } from "../../plan/types";
import { type Expr, intValue } from "../../symbolic/expr";
import { blockOf, persistentBlock } from "./blocks";
import { kernelConfigs } from "./configs";
import type { EmittedKernel } from "./generate";
import type { TritonKernel } from "./kernel";
import { type ArgDef, KernelArgs } from "./kernel_args";
import {
  commonMeta,
  divisibleParams,
  helperLines,
  isRemoved,
  type KernelParam,
  type KernelSource,
  knownOnes,
  mutatedArgs,
  NAME,
  noXDim,
  pyBool,
  pyList,
  scoresText,
  sizeHints,
  staticNumels,
  typeOfArg,
} from "./kernel_text";
import { type FinalLine, finishLines } from "./lines";
import { type CodegenOptions, has } from "./options";
import { pythonString } from "./python_text";
import type { Prefix } from "./range_tree";
import { rowsHeld } from "./wide_rows";

export interface ComboOptions {
  readonly options: CodegenOptions;
  readonly kind: "inference" | "forward" | "backward";
  /** block sizes are parameters; else they are fixed in the text */
  readonly autotune: boolean;
  /** blocks of each body per turn, where bodies take turns; null: one body after the other */
  readonly turns: readonly number[] | null;
}

const BLOCK_1D = 1024;
const BLOCK_2D = 32;
const BLOCK_REDUCE = 256;

const line = (text: string, op = ""): FinalLine => ({ text, op });
const numelOf = (k: TritonKernel, prefix: string): Expr | undefined => k.trees.find(t => t.prefix === prefix)?.numel;

function heuristicOf(k: TritonKernel): "pointwise" | "reduction" | "persistent_reduction" {
  return !k.isReduction ? "pointwise" : k.spec.persistent ? "persistent_reduction" : "reduction";
}

/** the sub-kernel whose heuristic stands for all (select_combo_heuristics) */
function selected(subs: readonly EmittedKernel[]): EmittedKernel {
  const kinds = subs.map(s => heuristicOf(s.kernel));
  const kind = kinds.includes("reduction")
    ? "reduction"
    : kinds.includes("pointwise")
      ? "pointwise"
      : "persistent_reduction";
  const key = kind === "persistent_reduction" ? "r0_" : "x";
  let best = subs[0] as EmittedKernel;
  let most = -1;
  for (const s of subs) {
    const size = heuristicOf(s.kernel) === kind ? (sizeHints(s.kernel)[key] ?? 0) : 0;
    if (size > most) {
      most = size;
      best = s;
    }
  }
  return best;
}

/** numels that are no numbers are arguments xnumel_0, ... */
function dynamicNumels(subs: readonly EmittedKernel[]): KernelParam[] {
  return subs.flatMap(({ kernel: k }, i) =>
    k.trees.flatMap((t): KernelParam[] => {
      if ((t.isReduction && !k.isReduction) || intValue(k.sizevars.simplify(t.numel)) !== undefined) return [];
      const name = `${t.prefix}numel_${i}`;
      return [
        { name, type: k.spec.indexDtype === "int64" ? "i64" : "i32", def: { kind: "numel", name, expr: t.numel } },
      ];
    }),
  );
}

function numelText(k: TritonKernel, prefix: string, i: number): string {
  const n = numelOf(k, prefix);
  const v = n === undefined ? 1 : intValue(k.sizevars.simplify(n));
  return v === undefined ? `${prefix}numel_${i}` : String(v);
}

/** all bodies in one function, sharing arguments, counters and block sizes */
export function sharedBlocksSource(subs: readonly EmittedKernel[], c: ComboOptions): KernelSource {
  const first = (subs[0] as EmittedKernel).kernel;
  const blocks = sharedBlocks(subs);
  const params: KernelParam[] = first.args
    .definitions()
    .map(def => ({ name: def.name, type: typeOfArg(first, def), def }));
  params.push(...dynamicNumels(subs));
  if (c.autotune) for (const name of blocks) params.push({ name, type: "constexpr", def: { kind: "constexpr", name } });
  const lines: FinalLine[] = [
    line("@triton.jit"),
    line(`def ${NAME}(${params.map(paramText).join(", ")}):`),
    line("    pid = tl.program_id(0)"),
  ];
  const tiled = blocks.includes("YBLOCK");
  if (!c.autotune) {
    for (const b of blocks) {
      const size = b === "R0_BLOCK" ? BLOCK_REDUCE : tiled ? BLOCK_2D : BLOCK_1D;
      lines.push(line(`    ${b}: tl.constexpr = ${size}`));
    }
    if (blocks.includes("R0_BLOCK")) lines.push(line(`    RBLOCK: tl.constexpr = ${BLOCK_REDUCE}`));
  }
  for (const [i, s] of subs.entries()) {
    const before = i === 0 ? "" : `num_xblocks_${i - 1} + `;
    lines.push(line(`    num_xblocks_${i} = ${before}tl.cdiv(${numelText(s.kernel, "x", i)}, XBLOCK)`));
  }
  for (const [i, s] of subs.entries()) {
    lines.push(line(`    ${i === 0 ? "if" : "elif"} pid < num_xblocks_${i}:`));
    lines.push(line(`        pid_offset = pid${i === 0 ? "" : ` - num_xblocks_${i - 1}`}`));
    const k = s.kernel;
    const own: string[] = [];
    for (const t of k.trees) {
      const n = intValue(k.sizevars.simplify(t.numel));
      lines.push(line(`        ${t.prefix}numel = ${n ?? `${t.prefix}numel_${i}`}`));
      if (t.isReduction && k.isReduction && k.spec.persistent) {
        lines.push(line(`        ${blockOf(t.prefix)}_${i}: tl.constexpr = ${persistentBlock(k, t.numel)}`));
        own.push(blockOf(t.prefix));
      }
    }
    for (const l of finishLines(k.body, b => isRemoved(k, b), 2))
      lines.push({ ...l, text: own.reduce((t, b) => t.replace(new RegExp(`\\b${b}\\b`, "g"), `${b}_${i}`), l.text) });
  }
  lines.push(line("    else:"), line("        pass"));
  const lead = selected(subs);
  const heuristic = c.autotune ? heuristicOf(lead.kernel) : "foreach";
  const fixed = tiled ? "{'XBLOCK': 32, 'YBLOCK': 32}" : `{'XBLOCK': ${BLOCK_1D}}`;
  const grid: [string, string][] = [
    ["num_kernels", String(subs.length)],
    ["min_blocks", "0"],
    ["default_config", c.autotune ? "None" : fixed],
  ];
  for (const [i, s] of subs.entries()) grid.push([`no_x_dim_${i}`, noXDim(s.kernel)], ...pointwiseNumels(s.kernel, i));
  const meta = comboMeta(subs, c, params, lead, "SequentialComboKernelGrid", grid);
  const configs = c.autotune ? meta.configs : [{ kwargs: {}, numWarps: 8, numStages: 1 }];
  const data = {
    ...meta.grid.data,
    ...(c.autotune ? {} : { XBLOCK: tiled ? BLOCK_2D : BLOCK_1D }),
    ...(tiled && !c.autotune ? { YBLOCK: BLOCK_2D } : {}),
  };
  return {
    lines,
    preamble: uniqueHelpers(subs),
    params,
    meta: { ...meta, configs, grid: { ...meta.grid, data } },
    heuristic,
  };
}

function sharedBlocks(subs: readonly EmittedKernel[]): string[] {
  const names: string[] = [];
  const add = (b: string): void => {
    if (!names.includes(b)) names.push(b);
  };
  for (const { kernel: k } of subs) {
    for (const t of k.trees) {
      if (t.isReduction && (!k.isReduction || k.spec.persistent)) continue;
      add(blockOf(t.prefix));
    }
  }
  const order = ["XBLOCK", "YBLOCK", "R0_BLOCK"];
  return names.sort((a, b) => order.indexOf(a) - order.indexOf(b));
}

const paramText = (p: KernelParam): string => (p.def.kind === "constexpr" ? `${p.name} : tl.constexpr` : p.name);

function pointwiseNumels(k: TritonKernel, i: number): [string, string][] {
  return k.trees
    .filter(t => !t.isReduction)
    .map(t => [`${t.prefix}numel_${i}`, String(intValue(k.sizevars.simplify(t.numel)) ?? "None")]);
}

function uniqueHelpers(subs: readonly EmittedKernel[]): FinalLine[] {
  const seen = new Set<string>();
  return subs.flatMap(({ kernel: k }) => {
    const text = k.helpers.join("\n\n");
    if (text === "" || seen.has(text)) return [];
    seen.add(text);
    return helperLines(k);
  });
}

interface BodyCall {
  readonly args: readonly string[];
  readonly blocks: readonly string[];
  /** prefixes of the loops that program ids are of: x, y, z */
  readonly axes: readonly Prefix[];
}

/** each turn takes some blocks of every body; blocks beyond a body's last are masked */
function turnLines(turns: readonly number[], text: (i: number) => string): FinalLine[] {
  const all = turns.reduce((a, b) => a + b, 0);
  const lines = [line(`    turn = pid // ${all}`), line(`    place = pid % ${all}`)];
  let first = 0;
  for (const [i, n] of turns.entries()) {
    lines.push(line(`    ${i === 0 ? "if" : "elif"} place < ${first + n}:`));
    lines.push(line(`        x_pid_offset = turn * ${n} + place - ${first}`));
    lines.push(line(`        ${text(i)}`));
    first += n;
  }
  return [...lines, line("    else:"), line("        pass")];
}

/** one body after the other: each has a range of program ids */
function sequenceLines(
  subs: readonly EmittedKernel[],
  calls: readonly BodyCall[],
  text: (i: number) => string,
): FinalLine[] {
  const lines: FinalLine[] = [];
  const blocksOf = (axis: Prefix, i: number): string => `${axis}_blocks_${i}`;
  for (const [i, { kernel: k }] of subs.entries()) {
    const axes = calls[i]?.axes ?? [];
    for (const axis of axes)
      lines.push(line(`    ${blocksOf(axis, i)} = tl.cdiv(${numelText(k, axis, i)}, ${blockOf(axis)}_${i})`));
    const own = axes.map(axis => blocksOf(axis, i)).join(" * ");
    lines.push(line(`    num_blocks_${i} = ${i === 0 ? own : `num_blocks_${i - 1} + ${own}`}`));
  }
  for (const [i, { axes }] of calls.entries()) {
    lines.push(line(`    ${i === 0 ? "if" : "elif"} pid < num_blocks_${i}:`));
    lines.push(line(`        local_pid = pid${i === 0 ? "" : ` - num_blocks_${i - 1}`}`));
    for (const [n, axis] of axes.entries()) {
      const inner = axes.slice(0, n).map(a => blocksOf(a, i));
      const quotient = inner.length > 1 ? ` // (${inner.join(" * ")})` : inner.map(a => ` // ${a}`).join("");
      const rest = n + 1 < axes.length ? ` % ${blocksOf(axis, i)}` : "";
      lines.push(line(`        ${axis}_pid_offset = local_pid${quotient}${rest}`));
    }
    lines.push(line(`        ${text(i)}`));
  }
  return [...lines, line("    else:"), line("        pass")];
}

/** a function and block sizes per body; its pointers are its own */
export function separateBlocksSource(subs: readonly EmittedKernel[], c: ComboOptions): KernelSource {
  const lead = selected(subs);
  const first = (subs[0] as EmittedKernel).kernel;
  const shared = new KernelArgs(n => first.graph.realName(n));
  const bodies: FinalLine[] = [...uniqueHelpers(subs)];
  const calls: BodyCall[] = [];
  for (const [i, { kernel: k }] of subs.entries()) {
    const defs = k.args.definitions();
    const blocks = k.trees
      .filter(t => !t.isReduction || (k.isReduction && !k.spec.persistent))
      .map(t => blockOf(t.prefix));
    blocks.sort((a, b) => BLOCK_ORDER.indexOf(a) - BLOCK_ORDER.indexOf(b));
    const dynamic = k.trees
      .filter(t => !(t.isReduction && !k.isReduction) && intValue(k.sizevars.simplify(t.numel)) === undefined)
      .map(t => `${t.prefix}numel`);
    const axes = (["x", "y", "z"] as const).filter(axis => axis === "x" || k.trees.some(t => t.prefix === axis));
    const offsets = axes.map(axis => `${axis}_pid_offset`);
    const head = [...defs.map(d => d.name), ...dynamic, ...offsets, ...blocks.map(b => `${b} : tl.constexpr`)];
    bodies.push(line("@triton.jit(noinline=True)"), line(`def ${NAME}_body_${i}_${NAME}(${head.join(", ")}):`));
    for (const s of staticNumels(k)) bodies.push(line(`    ${s}`));
    bodies.push(...finishLines(k.body, b => isRemoved(k, b), 1), line(""));
    calls.push({
      args: [...defs.map(d => sharedName(shared, k, d)), ...dynamic.map(n => `${n}_${i}`), ...offsets],
      blocks: blocks.map(b => `${b}_${i}`),
      axes,
    });
  }
  bodies.push(line(""));
  const params: KernelParam[] = shared.definitions().map(def => ({ name: def.name, type: typeOfArg(first, def), def }));
  params.push(...dynamicNumels(subs));
  const blockNames = calls.flatMap(x => x.blocks);
  for (const name of blockNames) params.push({ name, type: "constexpr", def: { kind: "constexpr", name } });
  const lines: FinalLine[] = [
    line("@triton.jit"),
    line(`def ${NAME}(${params.map(paramText).join(", ")}):`),
    line("    pid = tl.program_id(0)"),
  ];
  const { turns } = c;
  const text = (i: number): string => {
    const { args = [], blocks = [] } = calls[i] ?? {};
    return `${NAME}_body_${i}_${NAME}(${[...args, ...blocks].join(", ")})`;
  };
  lines.push(...(turns ? turnLines(turns, text) : sequenceLines(subs, calls, text)));
  const grid: [string, string][] = [
    ["num_kernels", String(subs.length)],
    ["min_blocks", "0"],
    ["autotune_grouping", "True"],
    ["block_arg_names", `(${blockNames.map(pythonString).join(", ")}${blockNames.length === 1 ? "," : ""})`],
    ["default_config", "None"],
  ];
  for (const [i, s] of subs.entries()) grid.push(...separateGridMeta(s, i));
  const meta = comboMeta(subs, c, params, lead, "SequentialFlattenComboKernelGrid", grid);
  const data = { ...meta.grid.data, ...Object.fromEntries((turns ?? []).map((n, i) => [`turn_${i}`, n] as const)) };
  return {
    lines,
    preamble: bodies,
    params,
    meta: { ...meta, grid: { ...meta.grid, data }, configs: separateConfigs(subs, c) },
    heuristic: heuristicOf(lead.kernel),
  };
}

const BLOCK_ORDER = ["XBLOCK", "YBLOCK", "ZBLOCK", "R0_BLOCK", "R1_BLOCK"];

/** the combined kernel's name for an argument of one body */
function sharedName(shared: KernelArgs, k: TritonKernel, def: ArgDef): string {
  switch (def.kind) {
    case "tensor": {
      if (def.role === "in") return shared.input(def.buffer);
      if (def.role === "out") return shared.output(def.buffer);
      const names = k.args.inplace.get(def.buffer)?.names ?? [def.buffer];
      const known = shared.inplace.get(names[0] as string);
      for (const n of names.slice(1)) if (!shared.inplace.has(n)) shared.makeInplace(names[0] as string, n);
      return known?.inner ?? shared.inplace.get(names[0] as string)?.inner ?? shared.output(def.buffer);
    }
    case "size":
      return shared.size(def.expr);
    case "seed_offset":
      return shared.seedOffset(def.value);
    case "workspace":
      return shared.workspace(def.workspace.count, def.workspace.dtype, def.workspace.zero, def.workspace.outer);
    default: {
      const never: never = def;
      return never;
    }
  }
}

function separateGridMeta(s: EmittedKernel, i: number): [string, string][] {
  const k = s.kernel;
  const own: string[] = [
    `'no_x_dim': ${noXDim(k)}`,
    `'atomic_add_found': ${pyBool(k.atomicAdd)}`,
    `'num_load': ${k.numLoad}`,
    `'num_store': ${k.numStore}`,
    `'num_reduction': ${k.numReduction}`,
    "'autotune_hints': ()",
  ];
  if (s.scores && s.scores.size > 0) own.push(`'tiling_scores': ${scoresText(s.scores)}`);
  const hints = Object.entries(sizeHints(k))
    .map(([p, n]) => `'${p}': ${n}`)
    .join(", ");
  const out: [string, string][] = [
    [`no_x_dim_${i}`, noXDim(k)],
    [`heuristic_${i}`, pythonString(heuristicOf(k))],
    [`size_hints_${i}`, `{${hints}}`],
    [`inductor_meta_${i}`, `{${own.join(", ")}}`],
  ];
  if (k.isReduction) out.push([`reduction_hint_${i}`, pythonString(s.hint)]);
  return [...out, ...pointwiseNumels(k, i)];
}

/** the j-th candidate takes every body's j-th own candidate */
function separateConfigs(subs: readonly EmittedKernel[], c: ComboOptions): TritonMeta["configs"] {
  const lists = subs.map(s => ownConfigs(s, c));
  const n = Math.min(4, Math.max(...lists.map(l => l.length)));
  return Array.from({ length: n }, (_, j) => {
    const kwargs: Record<string, number> = {};
    let numWarps = 1;
    for (const [i, list] of lists.entries()) {
      const one = list[Math.min(j, list.length - 1)];
      for (const [b, size] of Object.entries(one?.kwargs ?? {})) kwargs[`${b}_${i}`] = size;
      numWarps = Math.max(numWarps, one?.numWarps ?? 4);
    }
    return { kwargs, numWarps, numStages: 1 };
  });
}

function ownConfigs(s: EmittedKernel, c: ComboOptions): TritonMeta["configs"] {
  const hints = sizeHints(s.kernel);
  return kernelConfigs(
    {
      kernel: s.kernel,
      hints,
      hint: s.hint,
      scores: s.scores,
      tileHint: Object.keys(hints).length === 2 && !s.kernel.isReduction ? "DEFAULT" : undefined,
      rsplitSize: null,
      addPersistentRBlock: false,
      rowsHeld: rowsHeld(s.features.nodes, s.features.numel, s.features.rnumel, s.kernel.graph),
    },
    c.options,
  );
}

function comboMeta(
  subs: readonly EmittedKernel[],
  c: ComboOptions,
  params: readonly KernelParam[],
  lead: EmittedKernel,
  grid: string,
  gridMeta: readonly (readonly [string, string])[],
): TritonMeta {
  const { options } = c;
  const k = lead.kernel;
  const mutated = new Set<string>();
  for (const s of subs) for (const m of mutatedNames(s.kernel, params)) mutated.add(m);
  const inductorMeta: [string, string][] = [
    ["grid_type", pythonString(grid)],
    ["combo_grid_meta", `{${gridMeta.map(([key, v]) => `${pythonString(key)}: ${v}`).join(", ")}}`],
    ["kernel_name", `'${NAME}'`],
    ["mutated_arg_names", pyList([...mutated].sort())],
  ];
  if (has(options, "combo_full_triton_meta")) inductorMeta.push(["optimize_mem", pyBool(c.kind !== "forward")]);
  const signature: Record<string, string> = {};
  for (const p of params) signature[p.name] = p.type;
  const hints = sizeHints(k);
  const data: Record<string, number> = {};
  for (const [i, s] of subs.entries()) {
    for (const t of s.kernel.trees)
      if (!t.isReduction) data[`${t.prefix}numel_${i}`] = s.kernel.sizevars.sizeHint(t.numel, 8192);
  }
  return {
    sizeHints: hints,
    tileHint: !k.isReduction ? (Object.keys(hints).length === 2 ? "SQUARE" : "DEFAULT") : undefined,
    reductionHint: k.isReduction ? lead.hint : undefined,
    signature,
    constants: knownOnes(params),
    divisible: divisibleParams(k, params),
    inductorMeta: [...inductorMeta, ...commonMeta(options)],
    configs: ownConfigs(lead, c),
    minElemPerThread: Math.max(...subs.map(s => s.kernel.minElemPerThread)),
    grid: { type: grid, data: { num_kernels: subs.length, ...data } },
  };
}

/** names that the combined kernel gives to what a body writes over */
function mutatedNames(k: TritonKernel, params: readonly KernelParam[]): string[] {
  const own = new Set(mutatedArgs(k));
  const buffers = new Set(
    k.args.definitions().flatMap(d => (d.kind === "tensor" && own.has(d.name) ? [d.buffer] : [])),
  );
  if (
    params.some(p => own.has(p.name)) &&
    k.args
      .definitions()
      .every(d =>
        params.some(
          p => p.def === d || (p.name === d.name && "buffer" in p.def && "buffer" in d && p.def.buffer === d.buffer),
        ),
      )
  )
    return [...own];
  return params.flatMap(p => (p.def.kind === "tensor" && buffers.has(p.def.buffer) ? [p.name] : []));
}
