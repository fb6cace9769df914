// The end of an output file: runner, example inputs, timing. In: a plan. Out: lines. Both headers share get_args.
import { stringRepr } from "../../../fx/py_repr";
import { sizeValue } from "../../plan/sizes";
import type { ExecutablePlan, PlanSize } from "../../plan/types";
import { type CodegenOptions, configBool, has } from "../triton/options";
import { isTensor } from "./call_body";

/** functions of FuseLens's runtime that either header imports where they are used, and their modules */
const RUNTIME: readonly (readonly [string, string])[] = [
  ["add_rows", "rows"],
  ["mirrored", "order"],
  ["paired_tiles", "order"],
  ["sum_partials", "partials"],
];

/** imports for what these lines call; comments, which quote the user's code, call nothing */
export function runtimeImports(texts: Iterable<string>): string[] {
  const all = [...texts];
  return RUNTIME.filter(([name]) => {
    const called = new RegExp(`^[^#\\n]*\\b${name}\\(`, "m");
    return all.some(t => called.test(t));
  }).map(([name, module]) => `from fuselens_runtime.${module} import ${name}`);
}

export const RUNNER_HEAD: readonly string[] = [
  "class Runner:",
  "    def __init__(self, partitions):",
  "        self.partitions = partitions",
  "",
  "    def recursively_apply_fns(self, fns):",
  "        new_callables = []",
  "        for fn, c in zip(fns, self.partitions):",
  "            new_callables.append(fn(c))",
  "        self.partitions = new_callables",
  "",
  "    def call(self, args):",
];

export const RUNNER_TAIL: readonly string[] = [
  "",
  "runner = Runner(partitions=[])",
  "call = runner.call",
  "recursively_apply_fns = runner.recursively_apply_fns",
];

export const DETERMINISTIC_IMPORT = "from fuselens_runtime.repeatable import repeatable";

/** under `deterministic` the library is told too, while the graph runs */
export const runnerTail = (o: CodegenOptions): readonly string[] =>
  configBool(o, "deterministic")
    ? RUNNER_TAIL.map(t => t.replace("call = runner.call", "call = repeatable(runner.call)"))
    : RUNNER_TAIL;

const values = (sizes: readonly PlanSize[]): string =>
  sizes.length === 1 ? `(${sizeValue(sizes[0] as PlanSize)}, )` : `(${sizes.map(sizeValue).join(", ")})`;

/** `get_args()`, whose tensors are random of the example sizes */
export function getArgs(plan: ExecutablePlan, importLine: string): string[] {
  const lines = ["def get_args():", `    ${importLine}`];
  for (const i of plan.inputs) {
    if (isTensor(i))
      lines.push(
        `    ${i.name} = rand_strided(${values(i.size)}, ${values(i.stride)}, device=${stringRepr(i.device)}, dtype=torch.${i.dtype})`,
      );
    else lines.push(`    ${i.name} = ${i.value}`);
  }
  lines.push(`    return [${plan.inputs.map(i => i.name).join(", ")}]`);
  return lines;
}

export function inductorBenchmark(options: CodegenOptions): string[] {
  const device = has(options, "benchmark_names_device") ? ", device='cuda'" : "";
  return [
    "def benchmark_compiled_module(args, times=10, repeat=10):",
    "    from torch._inductor.utils import print_performance",
    "    fn = lambda: call(list(args))",
    `    return print_performance(fn, times=times, repeat=repeat${device})`,
    "",
    "",
    'if __name__ == "__main__":',
    "    from torch._inductor.wrapper_benchmark import compiled_module_main",
    "    args = get_args()",
    "    compiled_module_main('None', lambda times, repeat: benchmark_compiled_module(args, times=times, repeat=repeat))",
  ];
}
