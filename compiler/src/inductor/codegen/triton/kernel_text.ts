// The text of an emitted kernel: helpers, signature, numels, body; and the data of its decorator. In: an emitted kernel
// and its name. Out: lines with origins and TritonMeta. Promises: the text is the same under every header; <NAME> never
// remains (kernel names are given once equal sources are known).
import type { TritonMeta } from "../../plan/types";
import { type Expr, intValue } from "../../symbolic/expr";
import { blockOf, nestedNames, nextPowerOf2, persistentBlock } from "./blocks";
import { kernelConfigs } from "./configs";
import { gathers } from "./features";
import type { EmittedKernel } from "./generate";
import type { TritonKernel } from "./kernel";
import type { ArgDef } from "./kernel_args";
import { type FinalLine, finishLines } from "./lines";
import { memoryStats } from "./memory_stats";
import { type CodegenOptions, configBool, configNumber, has } from "./options";
import { pythonString } from "./python_text";
import { signatureType } from "./triton_types";
import { rowsHeld } from "./wide_rows";

/** stands for the kernel's name until it is known */
export const NAME = "<NAME>";

export interface KernelParam {
  readonly name: string;
  readonly type: string;
  /** what the parameter is for: a tensor, size, workspace, numel or block size */
  readonly def:
    | ArgDef
    | { readonly kind: "numel"; readonly name: string; readonly expr: Expr }
    | { readonly kind: "constexpr"; readonly name: string };
}

export interface KernelSource {
  /** from `@triton.jit` on, names still <NAME> */
  readonly lines: readonly FinalLine[];
  /** functions that stand before the kernel's, each followed by a blank line */
  readonly preamble: readonly FinalLine[];
  readonly params: readonly KernelParam[];
  readonly meta: TritonMeta;
  readonly heuristic: "pointwise" | "reduction" | "persistent_reduction" | "foreach" | "split_scan" | "template";
}

export function isRemoved(k: TritonKernel, buffer: string): boolean {
  return (
    k.removed.has(buffer) ||
    k.graph.removedBuffers.has(buffer) ||
    k.inplacedToRemove.has(buffer) ||
    k.graph.inplacedToRemove.has(buffer)
  );
}

/** arguments, numels and block sizes in order (python_argdefs and codegen_kernel) */
function kernelParams(k: TritonKernel): KernelParam[] {
  const params: KernelParam[] = k.args.definitions().map(def => ({ name: def.name, type: typeOfArg(k, def), def }));
  for (const t of k.trees) {
    if (t.isReduction && !k.isReduction) continue;
    const name = `${t.prefix}numel`;
    const one = k.sizevars.knownEquals(t.numel, 1);
    params.push({
      name,
      type: one ? "constexpr" : k.spec.indexDtype === "int64" ? "i64" : "i32",
      def: { kind: "numel", name, expr: t.numel },
    });
  }
  for (const name of blockParams(k)) params.push({ name, type: "constexpr", def: { kind: "constexpr", name } });
  return params;
}

function blockParams(k: TritonKernel): string[] {
  const names: string[] = [];
  for (const t of k.trees) {
    if (t.tensorDim === null || (t.isReduction && k.spec.persistent)) continue;
    names.push(blockOf(t.prefix));
  }
  if (k.spec.mixOrder) names.push("RSPLIT_SIZE", "NUM_STAGES");
  names.push(...(k.spec.constants ?? []));
  return names;
}

export function typeOfArg(k: TritonKernel, def: ArgDef): string {
  switch (def.kind) {
    case "tensor": {
      const d = k.graph.dtype(def.buffer);
      if (k.graph.isUnspecified(def.buffer)) return d === "float16" || d === "bfloat16" ? "fp32" : signatureType(d);
      return `*${signatureType(d)}`;
    }
    case "size":
      return "i64";
    case "seed_offset":
      // an integer argument that is 1 is a constant to Triton
      return def.value === 1 ? "constexpr" : "i32";
    case "workspace":
      return def.workspace.dtype === "float32" ? "*fp32" : def.workspace.dtype === "int32" ? "*i32" : "*u8";
    default: {
      const never: never = def;
      return never;
    }
  }
}

/** positions of arguments whose value is known to be a multiple of 16 (config_of) */
export function divisibleParams(k: TritonKernel, params: readonly KernelParam[]): number[] {
  const sv = k.sizevars;
  const aligned = (p: KernelParam): boolean => {
    if (p.type === "constexpr") return false;
    const { def } = p;
    switch (def.kind) {
      case "tensor": {
        return p.type.startsWith("*") && !k.graph.isUnaligned(def.buffer);
      }
      case "size":
      case "numel":
        return sv.knownMultipleOf(def.expr, 16);
      case "workspace":
        return true;
      case "seed_offset":
      case "constexpr":
        return false;
      default: {
        const never: never = def;
        return never;
      }
    }
  };
  return params.flatMap((p, i) => (aligned(p) ? [i] : []));
}

/** arguments that are compiled into a kernel because they are 1, by name */
export function knownOnes(params: readonly KernelParam[]): Record<string, number> {
  const ones: Record<string, number> = {};
  for (const p of params) if (p.type === "constexpr" && p.def.kind !== "constexpr") ones[p.name] = 1;
  return ones;
}

/** `xnumel = 1024` for sizes that are numbers, and the block of a persistent reduction */
export function staticNumels(k: TritonKernel): string[] {
  const out: string[] = [];
  for (const t of k.trees) {
    if (t.isReduction && !k.isReduction) continue;
    const n = intValue(k.sizevars.simplify(t.numel));
    if (n !== undefined) out.push(`${t.prefix}numel = ${n}`);
    if (t.prefix === "x" && t.tensorDim === null) out.push(`${blockOf(t.prefix)}: tl.constexpr = 1`);
    if (t.isReduction && k.spec.persistent)
      out.push(`${blockOf(t.prefix)}: tl.constexpr = ${persistentBlock(k, t.numel)}`);
  }
  const { nested } = k.spec;
  if (nested) {
    const { local, reduced } = nestedNames(nested.prefix);
    out.push(`${local}: tl.constexpr = ${nested.group}`);
    out.push(`${reduced}: tl.constexpr = ${blockOf(nested.prefix)} // ${local}`);
  }
  return out;
}

export function kernelSource(
  e: EmittedKernel,
  options: CodegenOptions,
  kind: "inference" | "forward" | "backward",
  extraMeta: readonly (readonly [string, string])[] = [],
): KernelSource {
  const k = e.kernel;
  const params = kernelParams(k);
  const head = `def ${NAME}(${params.map(p => (p.type === "constexpr" && p.def.kind === "constexpr" ? `${p.name} : tl.constexpr` : p.name)).join(", ")}):`;
  const lines: FinalLine[] = [
    { text: "@triton.jit", op: "" },
    { text: head, op: "" },
  ];
  for (const s of staticNumels(k)) lines.push({ text: `    ${s}`, op: "" });
  lines.push(...finishLines(k.body, b => isRemoved(k, b), 1));
  const reduction = k.spec.persistent ? "persistent_reduction" : k.spec.splitScan ? "split_scan" : "reduction";
  const heuristic = k.isReduction ? reduction : "pointwise";
  return { lines, preamble: helperLines(k), params, meta: metaOf(e, options, kind, params, extraMeta), heuristic };
}

/** scan combines and the like, each with a blank line after it */
export function helperLines(k: TritonKernel): FinalLine[] {
  return k.helpers.flatMap(h => [...h.split("\n"), ""]).map(text => ({ text, op: "" }));
}

export function sizeHints(k: TritonKernel): Record<string, number> {
  const hints: Record<string, number> = {};
  for (const t of k.trees) {
    if (t.isReduction && !k.isReduction) continue;
    hints[t.prefix] = nextPowerOf2(k.sizevars.sizeHint(t.numel, 8192));
  }
  return hints;
}

export const pyBool = (b: boolean): string => (b ? "True" : "False");
export const pyList = (xs: readonly string[]): string => `[${xs.map(pythonString).join(", ")}]`;

export function mutatedArgs(k: TritonKernel): string[] {
  const names = new Set<string>();
  for (const m of k.mutations) {
    const input = k.args.inputs.get(m);
    if (input) names.add(input);
    const shared = k.args.inplace.get(m);
    if (shared && !shared.removed && !k.graph.removedBuffers.has(m) && !k.removed.has(m)) names.add(shared.inner);
    const out = k.args.outputs.get(m);
    if (out) names.add(out);
  }
  for (const w of k.args.workspaces) if (w.zero) names.add(w.inner);
  return [...names].sort();
}

export function scoresText(scores: ReadonlyMap<string, number>): string {
  return `{${[...scores].map(([p, s]) => `'${p}': ${s}`).join(", ")}}`;
}

function metaOf(
  e: EmittedKernel,
  options: CodegenOptions,
  kind: string,
  params: readonly KernelParam[],
  extraMeta: readonly (readonly [string, string])[],
): TritonMeta {
  const k = e.kernel;
  const late = has(options, "late_inductor_meta");
  const hints = sizeHints(k);
  const own: [string, string][] = [["grid_type", pythonString(gridType(k))]];
  if (!late) own.push(["autotune_hints", "set()"]);
  own.push(
    ["kernel_name", `'${NAME}'`],
    ["mutated_arg_names", pyList(mutatedArgs(k))],
    ["optimize_mem", pyBool(kind !== "forward")],
  );
  own.push(["no_x_dim", noXDim(k)], ["atomic_add_found", pyBool(k.atomicAdd)]);
  own.push(
    ["num_load", String(k.numLoad)],
    ["num_store", String(k.numStore)],
    ["num_reduction", String(k.numReduction)],
  );
  const rsplit = extraMeta.filter(([key]) => key === "RSPLIT_SIZE");
  const others = extraMeta.filter(([key]) => key !== "RSPLIT_SIZE");
  const scores: [string, string][] =
    e.scores && e.scores.size > 0 && !k.spec.mixOrder ? [["tiling_scores", scoresText(e.scores)]] : [];
  const rblock: [string, string][] = addsPersistentRBlock(e) ? [["add_persistent_rblock", "True"]] : [];
  const inductorMeta = late
    ? [...own, ["autotune_hints", "()"] as const, ...rsplit, ...scores, ...others, ...rblock, ...commonMeta(options)]
    : [...own, ...commonMeta(options), ...rsplit, ...rblock, ...scores, ...others];
  const constants = knownOnes(params);
  const signature: Record<string, string> = {};
  for (const p of params) signature[p.name] = p.type;
  const nonConstexpr = params.filter(p => p.def.kind !== "constexpr").length;
  const tileHint =
    !k.isReduction && Object.keys(hints).length === 2
      ? nonConstexpr === 4
        ? ("SQUARE" as const)
        : ("DEFAULT" as const)
      : undefined;
  const base = {
    sizeHints: hints,
    tileHint,
    reductionHint: k.isReduction ? e.hint : undefined,
    signature,
    constants,
    divisible: divisibleParams(k, params),
    inductorMeta,
    minElemPerThread: k.minElemPerThread,
  };
  const rsplitSize = rsplit[0] ? Number(rsplit[0][1]) : null;
  return {
    ...base,
    configs: kernelConfigs(
      {
        kernel: k,
        hints,
        hint: e.hint,
        scores: e.scores,
        tileHint,
        rsplitSize,
        addPersistentRBlock: rblock.length > 0,
        gathers: k.isReduction && has(options, "gathers_in_loops") && gathers(e.features, e.hint, k.graph),
        rowsHeld: rowsHeld(e.features.nodes, e.features.numel, e.features.rnumel, k.graph),
      },
      options,
    ),
    grid: { type: gridType(k), data: {} },
  };
}

export function noXDim(k: TritonKernel): string {
  if (k.spec.splitScan) return "True";
  // Inductor's answer for one loop outside the reduction is a configuration that is not there
  const outer = k.trees.filter(t => !t.isReduction);
  return k.isReduction && k.spec.persistent && outer.length === 1 ? "None" : "False";
}

function gridType(k: TritonKernel): string {
  if (k.spec.mixOrder) return "MixOrderReductionGrid";
  if (k.spec.splitScan) return "SplitScanGrid";
  if (k.spec.order === "paired") return "PairedTilesGrid";
  const grid = k.trees.filter(t => t.gridDim !== null);
  if (grid.length === 1) return "Grid1D";
  if (grid.length === 3) return "Grid3D";
  const y = grid.find(t => t.prefix === "y");
  return y && !k.sizevars.knownLeq(y.numel, 65535) ? "Grid2DWithYZOverflow" : "Grid2D";
}

/** the part of inductor_meta that every kernel of a process shares */
export function commonMeta(o: CodegenOptions): (readonly [string, string])[] {
  const late = has(o, "late_inductor_meta");
  const flag = (name: string): string => pyBool(configBool(o, name));
  const meta: [string, string][] = [
    ["backend_hash", pythonString(BACKEND_HASH)],
    ["assert_indirect_indexing", pyBool(o.config.get("assert_indirect_indexing") !== false)],
    ["autotune_local_cache", "True"],
    ["autotune_pointwise", pyBool(o.config.get("triton.autotune_pointwise") !== false)],
    ["autotune_remote_cache", "None"],
    ["force_disable_caches", flag("force_disable_caches")],
    ["dynamic_scale_rblock", pyBool(o.config.get("dynamic_scale_rblock") !== false)],
  ];
  if (late) meta.push(["incremental_autotune", "False"]);
  meta.push(["max_autotune", flag("max_autotune")], ["max_autotune_pointwise", flag("max_autotune_pointwise")]);
  meta.push(
    ["min_split_scan_rblock", String(configNumber(o, "triton.min_split_scan_rblock", 256))],
    ["spill_threshold", "16"],
    ["store_cubin", flag("triton.store_cubin")],
    ["deterministic", flag("deterministic")],
  );
  if (late) meta.push(["batch_invariant", "False"]);
  meta.push(
    ["force_filter_reduction_configs", "False"],
    ["mix_order_reduction_allow_multi_stages", pyBool(has(o, "mix_order_multi_stages"))],
  );
  if (late) meta.push(["dynamic_disable_pipelining", "True"]);
  meta.push(["are_deterministic_algorithms_enabled", "False"]);
  return meta;
}

/** identifies the Triton build in real output; ours is fixed */
const BACKEND_HASH = "0000000000000000000000000000000000000000000000000000000000000000";

/** a looped kernel for which holding the row in one block would save a pass over memory */
function addsPersistentRBlock(e: EmittedKernel): boolean {
  const k = e.kernel;
  if (!k.isReduction || k.spec.persistent || k.trees.length !== 2) return false;
  const sv = k.sizevars;
  const rnumel = k.lastTree.numel;
  const { scores } = e;
  const ratio =
    scores?.has("r0_") && scores.has("x") ? (scores.get("r0_") ?? 0) / Math.max(scores.get("x") ?? 0, 1) : 0;
  if (!(ratio >= 8 || e.hint === "INNER") || !sv.knownGt(rnumel, 2048) || !sv.knownLeq(rnumel, 32768)) return false;
  const stats = memoryStats(k.graph, e.schedule, e.features.numel, e.features.rnumel);
  return stats !== null && stats.countPerThread <= 10 && stats.loopedBytes / Math.max(stats.persistentBytes, 1) >= 1.2;
}
