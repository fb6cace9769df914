// Output code that runs on stock PyTorch and Triton with FuseLens's runtime module. In: a plan. Out: lines with the
// source lines they stem from. Promises: kernel bodies and `call` are exactly those of the inductor header; only public
// PyTorch and Triton is needed besides fuselens_runtime; nothing from the user stands outside of comments.
import { floatRepr, stringRepr } from "../../../fx/py_repr";
import { sizeValue } from "../../plan/sizes";
import type { ExecutablePlan, PlanKernel, PlanOrigin, PlanTensor } from "../../plan/types";
import { type CodegenOptions, configBool } from "../triton/options";
import { pythonComment, pythonString } from "../triton/python_text";
import { type CallLine, callBody } from "./call_body";
import { decoratedLine } from "./inductor";
import { DETERMINISTIC_IMPORT, getArgs, RUNNER_HEAD, runnerTail, runtimeImports } from "./tail";

const plain = (text: string, origin: PlanOrigin | null = null): CallLine => ({ text, origin });

const HEADER: readonly string[] = [
  "import torch",
  "from torch import device",
  "import triton",
  "import triton.language as tl",
  "",
  "from fuselens_runtime import heuristics, libdevice, tl_math, triton_helpers",
  "from fuselens_runtime.tensors import (",
  "    assert_alignment,",
  "    assert_size_stride,",
  "    assert_size_stride_grouped,",
  "    copy_if_misaligned,",
  "    empty_strided_cpu,",
  "    empty_strided_cuda,",
  "    get_raw_stream,",
  "    reinterpret_tensor,",
  ")",
  "from fuselens_runtime.extern_kernels import extern_kernels",
];

export function standaloneCode(plan: ExecutablePlan, options: CodegenOptions): CallLine[] {
  const lines: CallLine[] = [plain(`# FuseLens output code, AOT ID: ['${plan.aotId}']`)];
  for (const b of plan.blockers) lines.push(plain(pythonComment(`# cannot run: ${b}`)));
  const body = callBody(plan, options);
  const tuned = !configBool(options, "deterministic");
  for (const t of HEADER) lines.push(plain(t));
  if (!tuned) lines.push(plain(DETERMINISTIC_IMPORT));
  for (const t of runtimeImports([...body.map(l => l.text), ...plan.kernels.map(k => k.triton)])) lines.push(plain(t));
  lines.push(plain(""), plain("aten = torch.ops.aten"));
  for (const c of plan.constants) lines.push(...constantLines(c));
  lines.push(plain(""), plain(""));
  for (const k of plan.kernels) lines.push(...kernelLines(k, tuned));
  for (const t of RUNNER_HEAD) lines.push(plain(t));
  lines.push(...body);
  for (const t of runnerTail(options)) lines.push(plain(t));
  const tail = [
    "",
    "",
    ...getArgs(plan, "from fuselens_runtime.tensors import rand_strided"),
    "",
    "",
    'if __name__ == "__main__":',
    "    from fuselens_runtime.benchmark import main",
    "    main(call, get_args)",
  ];
  for (const t of tail) lines.push(plain(t));
  return lines;
}

function constantLines(c: PlanTensor & { readonly values: readonly number[] }): CallLine[] {
  const float = /^(float|bfloat)/.test(c.dtype);
  const text = c.values
    .map(v => (c.dtype === "bool" ? (v ? "True" : "False") : float ? numberText(v) : String(v)))
    .join(", ");
  const size = `(${c.size.map(s => `${sizeValue(s)},`).join(" ")})`;
  return [
    plain(
      `${c.name} = torch.tensor([${text}], dtype=torch.${c.dtype}, device=${stringRepr(c.device)}).reshape(${size})`,
    ),
  ];
}

function numberText(v: number): string {
  return Number.isFinite(v) ? floatRepr(v) : `float(${stringRepr(Number.isNaN(v) ? "nan" : v > 0 ? "inf" : "-inf")})`;
}

const dict = (entries: readonly (readonly [string, string | number])[]): string =>
  `{${entries.map(([k, v]) => `${pythonString(k)}: ${v}`).join(", ")}}`;

function kernelLines(k: PlanKernel, tuned: boolean): CallLine[] {
  const source = k.triton.split("\n");
  const at = decoratedLine(source, k.name);
  const lines = k.provenance.map(t => plain(t, k.origin));
  for (const [i, t] of source.slice(0, at).entries()) lines.push(plain(t, k.tritonLines[i] ?? k.origin));
  for (const t of decorator(k, tuned)) lines.push(plain(t, k.origin));
  for (const [i, t] of source.slice(at).entries()) lines.push(plain(t, k.tritonLines[at + i] ?? k.origin));
  lines.push(plain(""), plain(""));
  return lines;
}

function decorator(k: PlanKernel, tuned: boolean): string[] {
  const { meta } = k;
  const changed = k.args.filter(a => a.role === "inout").map(a => a.name);
  for (const [key, value] of meta.inductorMeta) {
    if (key === "mutated_arg_names")
      for (const m of value.matchAll(/'(\w+)'/g)) if (m[1] && !changed.includes(m[1])) changed.push(m[1]);
  }
  const lines = [
    "@heuristics.kernel(",
    `    size_hints=${dict(Object.entries(meta.sizeHints))},`,
    `    signature=${dict(Object.entries(meta.signature).map(([n, t]) => [n, pythonString(t)] as const))},`,
    `    grid=${pythonString(meta.grid.type)},`,
  ];
  const data = Object.entries(meta.grid.data);
  if (data.length) lines.push(`    grid_data=${dict(data)},`);
  if (changed.length) lines.push(`    mutated=[${changed.map(pythonString).join(", ")}],`);
  if (!tuned) lines.push("    tuned=False,");
  lines.push("    configs=[");
  for (const c of meta.configs)
    lines.push(
      `        triton.Config(${dict(Object.entries(c.kwargs))}, num_warps=${c.numWarps}, num_stages=${c.numStages}),`,
    );
  lines.push("    ],", ")");
  return lines;
}
