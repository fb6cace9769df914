// The output code as torch._inductor writes it. In: a plan. Out: lines with the source lines they stem from. Promises:
// text of the preset's torch version; kernels and call body are those that the standalone header prints too.

import type { ExecutablePlan, PlanKernel, PlanOrigin, TritonMeta } from "../../plan/types";
import { type CodegenOptions, has } from "../triton/options";
import { insideTripleQuotes, pythonString } from "../triton/python_text";
import { type CallLine, callBody } from "./call_body";
import { contentName } from "./content_name";
import { getArgs, inductorBenchmark, RUNNER_HEAD, RUNNER_TAIL, runtimeImports } from "./tail";

export type OutputLine = CallLine;
const plain = (text: string, origin: PlanOrigin | null = null): OutputLine => ({ text, origin });

export function inductorCode(plan: ExecutablePlan, options: CodegenOptions): OutputLine[] {
  const body = callBody(plan, options);
  const lines: OutputLine[] = header(plan, options, body).map(t => plain(t));
  for (const k of plan.kernels) lines.push(...kernelLines(k, options));
  for (const t of ["async_compile.wait(globals())", "del async_compile", ""]) lines.push(plain(t));
  for (const t of RUNNER_HEAD) lines.push(plain(t));
  lines.push(...body);
  for (const t of RUNNER_TAIL) lines.push(plain(t));
  for (const t of [
    "",
    "",
    ...getArgs(plan, "from torch._dynamo.testing import rand_strided"),
    "",
    "",
    ...inductorBenchmark(options),
  ])
    lines.push(plain(t));
  return lines;
}

const STREAM = "from torch._C import _cuda_getCurrentRawStream as get_raw_stream";
/** written with the first Triton kernel */
const TRITON_HEADER: readonly string[] = [
  "import triton",
  "import triton.language as tl",
  "from torch._inductor.runtime.triton_heuristics import start_graph, end_graph",
  STREAM,
];
const GUARDS = "torch._C._dynamo.guards";

function header(plan: ExecutablePlan, options: CodegenOptions, body: readonly CallLine[]): string[] {
  const id = `# AOT ID: ['${plan.aotId}']`;
  const isCombined = (k: (typeof plan.kernels)[number]): boolean => k.heuristic === "foreach" || isCombo(k.meta);
  if (!has(options, "lean_wrapper_imports")) {
    return [
      id,
      "from ctypes import c_void_p, c_long, c_int",
      "import torch",
      "import math",
      "import random",
      "import os",
      "import tempfile",
      "from math import inf, nan",
      "from cmath import nanj",
      "from torch._inductor.hooks import run_intermediate_hooks",
      "from torch._inductor.utils import maybe_profile",
      "from torch._inductor.codegen.memory_planning import _align as align",
      "from torch import device, empty_strided",
      "from torch._inductor.async_compile import AsyncCompile",
      "from torch._inductor.select_algorithm import extern_kernels",
      // other kernels bring the whole header where they are defined, a combo kernel where it is launched: streams first
      ...(plan.kernels.length > 0 && plan.kernels.every(isCombined) ? [STREAM] : []),
      ...(plan.kernels.length > 0 ? TRITON_HEADER : []),
      "",
      "aten = torch.ops.aten",
      "inductor_ops = torch.ops.inductor",
      "_quantized = torch.ops._quantized",
      `assert_size_stride = ${GUARDS}.assert_size_stride`,
      `assert_alignment = ${GUARDS}.assert_alignment`,
      `empty_strided_cpu = ${GUARDS}._empty_strided_cpu`,
      `empty_strided_cpu_pinned = ${GUARDS}._empty_strided_cpu_pinned`,
      `empty_strided_cuda = ${GUARDS}._empty_strided_cuda`,
      `empty_strided_xpu = ${GUARDS}._empty_strided_xpu`,
      `empty_strided_mtia = ${GUARDS}._empty_strided_mtia`,
      `reinterpret_tensor = ${GUARDS}._reinterpret_tensor`,
      "alloc_from_pool = torch.ops.inductor._alloc_from_pool",
      "async_compile = AsyncCompile()",
      "empty_strided_p2p = torch._C._distributed_c10d._SymmetricMemory.empty_strided_p2p",
      "",
      "",
    ];
  }
  const text = body
    .map(l => l.text)
    .filter(l => !/^\s*#/.test(l))
    .join("\n");
  const uses = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(text);
  const lines = [
    id,
    "import torch",
    "from torch import device, empty_strided",
    "from torch._inductor.async_compile import AsyncCompile",
  ];
  if (uses("extern_kernels")) lines.push("from torch._inductor.select_algorithm import extern_kernels");
  if (uses("copy_if_misaligned")) lines.push(`from ${GUARDS} import copy_if_misaligned`);
  if (uses("get_raw_stream")) lines.push(STREAM);
  if (plan.kernels.some(isCombined)) lines.push(STREAM);
  lines.push(...runtimeImports(body.map(l => l.text)));
  lines.push("");
  if (uses("aten")) lines.push("aten = torch.ops.aten");
  for (const [name, attribute] of ALIASES) if (uses(name)) lines.push(`${name} = ${GUARDS}.${attribute}`);
  lines.push("async_compile = AsyncCompile()", "", "");
  return lines;
}

const ALIASES: readonly (readonly [string, string])[] = [
  ["assert_size_stride", "assert_size_stride"],
  ["assert_size_stride_grouped", "assert_size_stride_grouped"],
  ["assert_alignment", "assert_alignment"],
  ["empty_strided_cpu", "_empty_strided_cpu"],
  ["empty_strided_cuda", "_empty_strided_cuda"],
  ["reinterpret_tensor", "_reinterpret_tensor"],
];

const KERNEL_IMPORTS: readonly string[] = [
  "import triton",
  "import triton.language as tl",
  "",
  "from torch._inductor.runtime import triton_helpers, triton_heuristics",
  "from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math",
  "from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties",
];

function kernelLines(k: PlanKernel, options: CodegenOptions): OutputLine[] {
  const inline = has(options, "inline_kernel_source");
  const { folder, file } = contentName(`${k.triton}${JSON.stringify(k.meta)}`);
  const path = `/tmp/torchinductor_root/${folder}/${file}`;
  const lines: OutputLine[] = [plain(`# kernel path: ${path}`, k.origin), ...k.provenance.map(t => plain(t, k.origin))];
  const source = k.triton.split("\n");
  // the functions that stand before the decorated one
  const at = decoratedLine(source, k.name);
  const combo = k.heuristic === "foreach" || k.meta.grid.type === "SequentialFlattenComboKernelGrid";
  const imports = combo ? KERNEL_IMPORTS : [...KERNEL_IMPORTS, "triton_helpers.set_driver_to_gpu()"];
  const filename = inline ? `os.path.join(cache_dir(), '${folder}', '${file}')` : "__file__";
  if (inline)
    for (const t of ["import os", "from torch._inductor.runtime.runtime_utils import cache_dir", ""])
      lines.push(plain(t, k.origin));
  else lines.push(plain(`${k.name} = async_compile.triton('${k.name}', '''`, k.origin));
  const put = (text: string, origin: PlanOrigin): void => {
    lines.push(plain(inline ? text : insideTripleQuotes(text), origin));
  };
  for (const t of [...imports, ...runtimeImports(source)]) put(t, k.origin);
  put("", k.origin);
  for (const [i, t] of source.slice(0, at).entries()) put(t, k.tritonLines[i] ?? k.origin);
  for (const t of decorator(k, options, filename)) put(t, k.origin);
  for (const [i, t] of source.slice(at).entries()) put(t, k.tritonLines[at + i] ?? k.origin);
  if (!inline) lines.push(plain("''', device_str='cuda')", k.origin));
  lines.push(plain(""), plain(""));
  return lines;
}

/** index of the `@triton.jit` above the kernel's own function */
export function decoratedLine(source: readonly string[], name: string): number {
  const def = source.findIndex(l => l.startsWith(`def ${name}(`));
  return Math.max(0, def - 1);
}

const dict = (entries: readonly (readonly [string, string])[]): string =>
  `{${entries.map(([k, v]) => `${pythonString(k)}: ${v}`).join(", ")}}`;

function decorator(k: PlanKernel, options: CodegenOptions, filename: string): string[] {
  const { meta } = k;
  const hints = dict(Object.entries(meta.sizeHints).map(([p, n]) => [p, String(n)] as const));
  const tritonMeta = tritonMetaText(k, options);
  const inductorMeta = dict(meta.inductorMeta);
  if (k.heuristic === "foreach") {
    return [
      "@triton_heuristics.foreach(",
      `    filename=${filename},`,
      `    triton_meta=${tritonMeta},`,
      `    inductor_meta=${inductorMeta},`,
      ")",
    ];
  }
  if (k.heuristic === "template") {
    const [config] = meta.configs;
    return [
      "@triton_heuristics.template(",
      `    num_stages=${config?.numStages ?? 1},`,
      `    num_warps=${config?.numWarps ?? 4},`,
      `    triton_meta=${tritonMeta},`,
      `    inductor_meta=${inductorMeta},`,
      ")",
    ];
  }
  const lines = [`@triton_heuristics.${k.heuristic}(`];
  if (meta.reductionHint !== undefined)
    lines.push(`    size_hints=${hints},`, `    reduction_hint=ReductionHint.${meta.reductionHint},`);
  else lines.push(`    size_hints=${hints}, ${meta.tileHint ? `tile_hint=TileHint.${meta.tileHint},` : ""}`);
  lines.push(`    filename=${filename},`, `    triton_meta=${tritonMeta},`);
  if (k.heuristic === "pointwise")
    lines.push(`    inductor_meta=${inductorMeta},`, `    min_elem_per_thread=${meta.minElemPerThread}`);
  else lines.push(`    inductor_meta=${inductorMeta}`);
  lines.push(")");
  return lines;
}

function tritonMetaText(k: PlanKernel, o: CodegenOptions): string {
  const { meta } = k;
  const t = o.target;
  const [major, minor] = t.computeCapability;
  const device = `DeviceProperties(type='cuda', index=0, multi_processor_count=${t.multiProcessorCount}, cc=${major * 10 + minor}, major=${major}, regs_per_multiprocessor=${t.registersPerMultiProcessor}, max_threads_per_multi_processor=${t.maxThreadsPerMultiProcessor}, max_threads_per_block=${t.maxThreadsPerBlock}, warp_size=${t.warpSize})`;
  const entries: [string, string][] = [
    ["signature", dict(Object.entries(meta.signature).map(([n, ty]) => [n, pythonString(ty)] as const))],
    ["device", device],
    ["constants", dict(Object.entries(meta.constants).map(([n, v]) => [n, String(v)] as const))],
  ];
  const combo = isCombo(meta) || k.heuristic === "foreach";
  if (!combo) entries.push(["native_matmul", "False"]);
  entries.push(["enable_fp_fusion", "True"]);
  if (!combo || has(o, "combo_full_triton_meta")) entries.push(["launch_pdl", "False"], ["disable_ftz", "False"]);
  entries.push(["configs", `[{${meta.divisible.map(i => `(${i},): [['tt.divisibility', 16]]`).join(", ")}}]`]);
  return dict(entries);
}

const isCombo = (m: TritonMeta): boolean => m.grid.type.includes("ComboKernel");
