// In: a matrix product. Out: the kernels that could compute it (the library's and the Triton template's configurations),
// each with a time. Promises: configurations are Inductor's default list after its pruning; times come from `costs`,
// which is an estimate unless the caller measures.

import { pythonFloatRepr } from "../../report/python_text";
import { estimateExternUs, externFlops } from "../cost";
import { itemsize } from "../ir/dtypes";
import type { TargetProperties } from "../ir/target";
import type { ExternOperation, LoweredGraph } from "../ir/types";
import { printLog } from "../symbolic";
import type { SizeVars } from "../symbolic/size_vars";
import { templatePenalty } from "../templates/alignment";
import type { GemmWay } from "../templates/forms";
import { gemmKind, gemmOf, multiplied } from "../templates/gemm";
import { estimatePartsUs, isInParts } from "../templates/in_parts";
import { layoutOf } from "./state";

export interface GemmConfig {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly stages: number;
  readonly warps: number;
}

export interface TemplateChoice {
  readonly name: string;
  /** null: the library's kernel */
  readonly config: GemmConfig | null;
  readonly ms: number;
}

/** Times of kernels; the default model is a roofline, a worker may measure. */
export interface TemplateCosts {
  choiceMs(op: ExternOperation, config: GemmConfig | null): number;
  /** a kernel that only moves this many bytes */
  copyMs(bytes: number): number;
  readonly estimated: boolean;
}

/** (BLOCK_M, BLOCK_N, BLOCK_K, num_stages, num_warps), Inductor's mm_configs in order */
const MM_CONFIGS: readonly GemmConfig[] = (
  [
    [32, 32, 16, 1, 2],
    [32, 32, 128, 2, 4],
    [32, 64, 32, 5, 8],
    [64, 32, 32, 5, 8],
    [64, 32, 128, 5, 4],
    [64, 64, 16, 2, 4],
    [64, 64, 32, 2, 4],
    [64, 64, 64, 3, 8],
    [64, 64, 128, 5, 4],
    [64, 128, 32, 3, 4],
    [64, 128, 32, 4, 8],
    [64, 128, 64, 3, 4],
    [64, 128, 128, 4, 4],
    [128, 64, 32, 3, 4],
    [128, 64, 32, 4, 8],
    [128, 128, 32, 2, 8],
    [128, 128, 32, 3, 4],
    [128, 128, 64, 3, 4],
    [128, 128, 64, 5, 8],
    [128, 128, 128, 4, 8],
    [128, 256, 64, 4, 8],
  ] as const
).map(([m, n, k, stages, warps]) => ({ m, n, k, stages, warps }));

const MIN_BLOCK = 16;
/** Configurations for a product of these sizes: blocks no larger than the operands, without repeats. */
export function gemmConfigs(m: number, n: number, k: number): GemmConfig[] {
  const cap = (x: number): number => Math.max(MIN_BLOCK, 2 ** Math.ceil(Math.log2(Math.max(1, x))));
  const seen = new Set<string>();
  return MM_CONFIGS.flatMap(c => {
    const block = { m: Math.min(c.m, cap(m)), n: Math.min(c.n, cap(n)), k: Math.min(c.k, cap(k)) };
    const warps = Math.min(c.warps, Math.floor((block.m * block.n) / 256));
    const config: GemmConfig = { ...block, stages: c.stages, warps: Math.max(1, warps) };
    const key = Object.values(config).join();
    if (seen.has(key)) return [];
    seen.add(key);
    return [config];
  });
}

const BEST_EFFICIENCY = 0.89;

/** `inParts`: templates compute float32 products of bfloat16 parts */
export function estimatedCosts(graph: LoweredGraph, target: TargetProperties, inParts = false): TemplateCosts {
  const sv = graph.sizevars;
  return {
    estimated: true,
    copyMs: bytes => bytes / (target.memoryBandwidth * 0.8) / 1e-3,
    choiceMs(op, config) {
      const bytes = trafficOf(graph, op);
      if (config === null) return estimateExternUs(op, bytes, target, sv) / 1e3;
      const library = estimateExternUs(op, bytes, target, sv, templatePenalty(op)) / 1e3;
      // Large tiles reuse what they load: a tile of 128 x 128 comes near the library, one of 32 x 32 does not.
      const reuse = (config.m * config.n) / (config.m + config.n) / 64;
      const depth = Math.min(1, config.k / 64) ** 0.25 * (config.k > 64 ? 0.85 : 1);
      const gemm = inParts && isInParts(op) ? gemmOf(op) : null;
      const best = gemm ? (library * 1e3) / estimatePartsUs(gemm, target, sv) : BEST_EFFICIENCY;
      const efficiency = Math.min(best, best * reuse ** 0.5) * depth;
      return externFlops(op, sv) === 0 ? library : library / efficiency;
    },
  };
}

/** what is asked for is taken, whatever it costs */
export function withWantedWays(
  costs: TemplateCosts,
  wantedFor: (op: ExternOperation) => GemmWay | "library" | null,
): TemplateCosts {
  return {
    ...costs,
    choiceMs: (op, config) => {
      const wanted = wantedFor(op);
      return wanted === null || (config === null) === (wanted === "library")
        ? costs.choiceMs(op, config)
        : Number.POSITIVE_INFINITY;
    },
  };
}

/** bytes that a call reads and writes at least */
export function trafficOf(graph: LoweredGraph, op: ExternOperation): number {
  const read = op.reads.reduce(
    (t, r) => t + r.size.reduce((n, e) => n * graph.sizevars.sizeHint(e, 1), 1) * itemsize(r.dtype),
    0,
  );
  return op.outputs.reduce((t, o) => {
    const l = layoutOf(graph, o);
    return l && "size" in l ? t + l.size.reduce((n, e) => n * graph.sizevars.sizeHint(e, 1), 1) * itemsize(l.dtype) : t;
  }, read);
}

/** "mm", "addmm", "bmm", "baddbmm", "scaled_mm"; null for kernels without a template */
function templateKernel(op: ExternOperation): string | null {
  return gemmKind(op);
}

/** sizes of a product as (M, N, K) */
function gemmSizes(op: ExternOperation, sv: SizeVars): readonly [number, number, number] {
  const [a, b] = (multiplied(op) ?? []).map(r => r.size.slice(-2).map(e => sv.sizeHint(e, 1)));
  return [a?.[0] ?? 1, b?.[1] ?? 1, a?.[1] ?? 1];
}

/** All choices, fastest first; Triton kernels are numbered in the order of their configurations. */
export function choicesOf(
  op: ExternOperation,
  sv: SizeVars,
  costs: TemplateCosts,
  firstNumber: number,
): TemplateChoice[] {
  const kernel = templateKernel(op) ?? "mm";
  const [m, n, k] = gemmSizes(op, sv);
  const configs = gemmConfigs(m, n, k);
  const all: TemplateChoice[] = [
    { name: kernel, config: null, ms: costs.choiceMs(op, null) },
    ...configs.map((config, i) => ({
      name: `triton_${kernel.includes("bmm") ? "bmm" : "mm"}_${firstNumber + i}`,
      config,
      ms: costs.choiceMs(op, config),
    })),
  ];
  return all.sort((x, y) => x.ms - y.ms);
}

const SHOWN = 10;

/** The table that Inductor prints when it has tried all choices. */
export function autotuneLines(op: ExternOperation, sv: SizeVars, choices: readonly TemplateChoice[]): string[] {
  const kernel = templateKernel(op) ?? "mm";
  const [best] = choices;
  const triton = choices.filter(c => c.config !== null);
  const [bestTriton] = triton;
  if (!best) return [];
  const [, , k] = gemmSizes(op, sv);
  const stats = [
    `"num_choices": ${choices.length}`,
    `"num_triton_choices": ${triton.length}`,
    `"best_kernel": "${best.name}"`,
    ...(best.config ? [`"best_kernel_desc": "${description(best.config, k)}"`] : []),
    `"best_time": ${pythonFloatRepr(best.ms)}`,
    ...(bestTriton?.config
      ? [
          `"best_triton_pos": ${choices.indexOf(bestTriton)}`,
          ...(bestTriton === best
            ? []
            : [
                `"best_triton_time": ${pythonFloatRepr(bestTriton.ms)}`,
                `"best_triton_kernel": "${bestTriton.name}"`,
                `"best_triton_kernel_desc": "${description(bestTriton.config, k)}"`,
              ]),
        ]
      : []),
  ];
  const shapes = op.reads.map(r => r.size.map(printLog).join("x")).join(", ");
  const strides = op.reads.map(r => `[${r.stride.map(printLog).join(", ")}]`).join(", ");
  const rows = choices.slice(0, SHOWN).map(c => {
    const share = ((best.ms / c.ms) * 100).toFixed(1);
    return `  ${c.name} ${c.ms.toFixed(4)} ms ${share}% ${c.config ? description(c.config, k) : ""}`.trimEnd();
  });
  return [
    "Autotune Choices Stats:",
    `{${stats.join(", ")}}`,
    `AUTOTUNE ${kernel}(${shapes})`,
    `strides: ${strides}`,
    `dtypes: ${op.reads.map(r => `torch.${r.dtype}`).join(", ")}`,
    ...rows,
    `SingleProcess AUTOTUNE benchmarking takes 0.0000 seconds and 0.0000 seconds precompiling for ${choices.length} choices`,
  ];
}

function description(c: GemmConfig, k: number): string {
  const even = k % c.k === 0 ? "True" : "False";
  return `ACC_TYPE='tl.float32', ALLOW_TF32=False, BLOCK_K=${c.k}, BLOCK_M=${c.m}, BLOCK_N=${c.n}, EVEN_K=${even}, GROUP_M=8, USE_FAST_ACCUM=False, num_stages=${c.stages}, num_warps=${c.warps}`;
}
