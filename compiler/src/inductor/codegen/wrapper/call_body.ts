// The body of `call(self, args)`: what every header runs. In: a plan. Out: lines with the source lines that they stem
// from. Promises: derived from the plan's steps alone, so text and execution cannot differ; the same under every header.

import { itemsize } from "../../ir/dtypes";
import { buffersOf, sameSizes, sizeText } from "../../plan/sizes";
import type { ExecutablePlan, PlanArg, PlanOrigin, PlanSize, PlanStep, PlanTensor } from "../../plan/types";
import { type CodegenOptions, configBool, has } from "../triton/options";
import { pythonString } from "../triton/python_text";
import { argText, reinterpret, shapeTuple, type TensorTable } from "./python_args";

export interface CallLine {
  readonly text: string;
  readonly origin: PlanOrigin | null;
}

type Launch = Extract<PlanStep, { kind: "launch" }>;
type Extern = Extract<PlanStep, { kind: "extern" }>;
type Finish = Extract<PlanStep, { kind: "finish_partials" }>;

export const isTensor = (i: ExecutablePlan["inputs"][number]): i is PlanTensor => "dtype" in i;

/** every tensor of the plan by name */
function tensorTable(plan: ExecutablePlan): Map<string, PlanTensor> {
  const table = new Map<string, PlanTensor>();
  for (const i of plan.inputs) if (isTensor(i)) table.set(i.name, i);
  for (const c of plan.constants) table.set(c.name, c);
  for (const s of plan.steps) {
    if (s.kind === "allocate") table.set(s.tensor.name, s.tensor);
    else if (s.kind === "getitem" || s.kind === "finish_partials") table.set(s.output.name, s.output);
    else if (s.kind === "extern") for (const r of s.results) if (r && r.name === s.output) table.set(r.name, r);
  }
  return table;
}

/** whether the plan touches a GPU, and which */
function deviceIndex(plan: ExecutablePlan): number | null {
  for (const t of tensorTable(plan).values()) {
    const m = /^cuda:(\d+)$/.exec(t.device);
    if (m) return Number(m[1]);
  }
  return null;
}

/** operators that write an argument whose calls Inductor prints without a comment */
const WRITES_BARE = /^aten\.(scatter_|scatter_add_|scatter_reduce_|index_put_)(\.|$)/;

/** scatter's arguments stand close, its reduction by name */
function bareWrite(s: Extern, args: readonly string[]): string {
  const kwargs = s.kwargs.map(([k, v]) => `${k}=${argText(v, new Map())}`);
  if (!s.op.startsWith("aten.scatter")) return `${s.kernel}(${[...args, ...kwargs].join(", ")})`;
  const [self, dim, index, src, reduce] = args;
  const named = [...(reduce === undefined ? [] : [`reduce=${reduce}`]), ...kwargs];
  return `${s.kernel}(${[[self, dim, index, src].join(","), ...named].join(", ")})`;
}

export function callBody(plan: ExecutablePlan, options: CodegenOptions): CallLine[] {
  return new CallPrinter(plan, options).print();
}

class CallPrinter {
  private readonly lines: CallLine[] = [];
  private readonly tensors: TensorTable;
  private readonly outputs: ReadonlySet<string>;
  private readonly checked = new Set<string>();
  /** positions of tensor inputs */
  private readonly inputAt = new Map<string, number>();
  /** calls by what they give back, and those of them whose result is unpacked */
  private readonly producers = new Map<string, Extern>();
  private readonly unpacked = new Set<string>();
  /** size symbols that have a value */
  private readonly bound = new Set<string>();
  private readonly commented = new Set<PlanStep>();
  /** partial results that the line of an earlier step sums */
  private readonly summed = new Set<PlanStep>();
  /** results of calls that begin anywhere in memory */
  private readonly unaligned = new Set<string>();
  private readonly stream: string;
  private readonly firstUse: boolean;
  private readonly device: number | null;

  constructor(
    private readonly plan: ExecutablePlan,
    private readonly options: CodegenOptions,
  ) {
    this.tensors = tensorTable(plan);
    this.device = deviceIndex(plan);
    this.stream = `${has(options, "raw_stream_name") ? "raw_stream" : "stream"}${this.device ?? 0}`;
    this.firstUse = has(options, "asserts_at_first_use");
    this.outputs = new Set(buffersOf(plan.outputs));
    for (const [at, i] of plan.inputs.entries()) if (isTensor(i)) this.inputAt.set(i.name, at);
    for (const s of plan.steps) {
      if (s.kind === "extern" && !this.producers.has(s.output)) this.producers.set(s.output, s);
      else if (s.kind === "getitem" && s.index !== null) this.unpacked.add(s.of);
    }
  }

  private write(indent: number, text: string, origin: PlanOrigin | null = null): void {
    this.lines.push({ text: "    ".repeat(indent) + text, origin });
  }

  print(): CallLine[] {
    const { plan } = this;
    const names = plan.inputs.map(i => i.name);
    if (names.length > 0) this.write(2, `${names.join(", ")}${names.length === 1 ? "," : ""} = args`);
    this.write(2, "args.clear()");
    for (const s of plan.symbols) {
      const input = plan.inputs[s.input];
      if (!input) continue;
      this.write(2, s.dim === null ? `${s.name} = ${input.name}` : `${s.name} = ${input.name}.size(${s.dim})`);
    }
    const groups = this.groups();
    if (this.firstUse) this.assertInputs(2, groups[0] ?? []);
    else if (configBool(this.options, "size_asserts"))
      for (const s of plan.steps)
        if (s.kind === "assert")
          this.write(2, `assert_size_stride(${s.name}, ${shapeTuple(s.size)}, ${shapeTuple(s.stride)})`);
    const inner = this.device === null ? 2 : 3;
    if (this.device !== null && groups.length > 0) {
      this.write(2, `with torch.cuda._DeviceGuard(${this.device}):`);
      this.write(3, `torch.cuda.set_device(${this.device})`);
    }
    for (const [i, group] of groups.entries()) {
      if (this.firstUse) {
        if (i > 0) this.assertInputs(inner, group);
        for (const name of this.newInputs(group)) {
          this.checked.add(name);
          this.write(inner, `${name} = copy_if_misaligned(${name})`);
        }
      }
      for (const step of group) if (step.kind === "launch") this.precompute(inner, step);
      for (const [j, step] of group.entries()) if (!this.summed.has(step)) this.step(inner, step, group.slice(j + 1));
    }
    const out = plan.outputs.map(o => argText(o, this.tensors));
    this.write(2, out.length === 0 ? "return ()" : `return (${out.join(", ")}, )`);
    return this.lines;
  }

  /** steps up to and with each launch or call, then what frees after it */
  private groups(): PlanStep[][] {
    const groups: PlanStep[][] = [];
    let now: PlanStep[] = [];
    let launched = false;
    for (const s of this.plan.steps) {
      if (s.kind === "assert") continue;
      const starts = s.kind === "allocate" || s.kind === "launch" || s.kind === "extern";
      if (launched && starts) {
        groups.push(now);
        now = [];
        launched = false;
      }
      now.push(s);
      if (s.kind === "launch" || s.kind === "extern") launched = true;
    }
    if (now.length) groups.push(now);
    return groups;
  }

  /** tensor inputs that this group uses first, in input order */
  private newInputs(group: readonly PlanStep[]): string[] {
    const used = group.flatMap(s => {
      if (s.kind === "launch") return buffersOf(s.args);
      if (s.kind === "extern") return buffersOf([...s.args, ...s.kwargs.map(([, v]) => v)]);
      return s.kind === "allocate" && s.from.kind === "reuse" ? [s.from.buffer] : [];
    });
    const fresh = [...new Set(used)].filter(name => this.inputAt.has(name) && !this.checked.has(name));
    return fresh.sort((a, b) => (this.inputAt.get(a) ?? 0) - (this.inputAt.get(b) ?? 0));
  }

  private assertInputs(indent: number, group: readonly PlanStep[]): void {
    if (!configBool(this.options, "size_asserts")) return;
    const tensors = this.newInputs(group)
      .flatMap(n => this.tensors.get(n) ?? [])
      .filter(t => !t.size.some(s => s === 0));
    const [only] = tensors;
    if (tensors.length === 1 && only)
      this.write(
        indent,
        `assert_size_stride(${only.name}, ${shapeTuple(only.size)}, ${shapeTuple(only.stride)}, 'input')`,
      );
    else if (tensors.length > 1) {
      const tuple = (f: (t: PlanTensor) => string): string => `(${tensors.map(f).join(", ")})`;
      this.write(
        indent,
        `assert_size_stride_grouped(${tuple(t => t.name)}, ${tuple(t => shapeTuple(t.size))}, ${tuple(t => shapeTuple(t.stride))}, 'input')`,
      );
    }
  }

  private step(n: number, s: PlanStep, rest: readonly PlanStep[]): void {
    switch (s.kind) {
      case "assert":
        return;
      case "allocate":
        this.allocate(n, s, rest);
        return;
      case "free":
        this.write(n, `del ${s.name}`);
        return;
      case "launch":
        this.launch(n, s);
        return;
      case "extern":
        this.extern(n, s);
        return;
      case "getitem": {
        this.write(n, `${s.output.name} = ${s.index === null ? s.of : `${s.of}[${s.index}]`}`);
        const producer = this.producers.get(s.of);
        if (producer) this.checkResult(n, s.output, producer, true);
        return;
      }
      case "finish_partials":
        this.write(n, this.together(s, rest) ?? this.partials(s));
        return;
      default: {
        const never: never = s;
        return never;
      }
    }
  }

  private allocate(n: number, s: Extract<PlanStep, { kind: "allocate" }>, rest: readonly PlanStep[]): void {
    const { tensor: t, from } = s;
    switch (from.kind) {
      case "new": {
        // a workspace belongs to the launch that follows, and stands below its comment
        if (t.name.startsWith("workspace_")) {
          const launch = rest.find((x): x is Launch => x.kind === "launch");
          if (launch) this.comment(n, launch);
        }
        const fn = t.device.startsWith("cuda") ? "empty_strided_cuda" : `empty_strided_${t.device.split(":")[0]}`;
        this.write(n, `${t.name} = ${fn}(${shapeTuple(t.size)}, ${shapeTuple(t.stride)}, torch.${t.dtype})`);
        if (from.zero) this.write(n, `${t.name}.zero_()`);
        return;
      }
      case "alias":
        this.write(n, `${t.name} = ${reinterpret(from.base, t)}  # alias`);
        return;
      case "reuse": {
        const old = this.tensors.get(from.buffer);
        const same = old !== undefined && sameSizes(old.size, t.size) && sameSizes(old.stride, t.stride);
        const value = same ? from.buffer : reinterpret(from.buffer, { ...t, offset: 0 });
        const del = this.outputs.has(from.buffer) ? ";" : `; del ${from.buffer}`;
        this.write(n, `${t.name} = ${value}${del}  # reuse`);
        return;
      }
      default: {
        const never: never = from;
        return never;
      }
    }
  }

  private comment(n: number, s: Launch | Extern): void {
    if (this.commented.has(s)) return;
    this.commented.add(s);
    if (s.kind === "launch" && this.plan.kernels[s.kernel]?.type === "FusedMixOrderReductions")
      this.write(n, "# Call mix order reduction kernel", s.origin);
    this.write(n, s.comment, s.origin);
  }

  /** sizes that kernels have names for, before the first launch that takes them */
  private precompute(n: number, s: Launch): void {
    for (const a of s.args) {
      if (a.kind !== "size" || typeof a.value === "number" || a.value.meaning === undefined) continue;
      if (this.bound.has(a.value.text)) continue;
      this.bound.add(a.value.text);
      this.write(n, `${a.value.text} = ${a.value.meaning}`);
    }
  }

  private launch(n: number, s: Launch): void {
    const kernel = this.plan.kernels[s.kernel];
    if (!kernel) throw new Error(`launch of kernel ${s.kernel}`);
    this.comment(n, s);
    const args = s.args.map((a, i) => {
      const arg = kernel.args[i];
      const text = argText(a, this.tensors);
      if (arg?.role !== "numel" || /^\w+$/.test(text)) return text;
      // a numel that is neither a number nor a symbol is worked out once, under a name of its own
      const name = `${kernel.name}_${arg.name}`;
      this.write(n, `${name} = ${text}`, s.origin);
      return name;
    });
    this.write(n, `${this.stream} = get_raw_stream(${this.device ?? 0})`, s.origin);
    this.write(n, `${kernel.name}.run(${[...args, `stream=${this.stream}`].join(", ")})`, s.origin);
  }

  private extern(n: number, s: Extern): void {
    const args = s.args.map(a => argText(a, this.tensors));
    if (WRITES_BARE.test(s.op) && s.results.length === 0) {
      this.write(n, bareWrite(s, args), s.origin);
      return;
    }
    this.comment(n, s);
    const kwargs = s.kwargs.map(([k, v]) => `${k}=${argText(v, this.tensors)}`);
    if (s.op === "aten.copy_.default" && s.call === "out") {
      this.write(n, `${s.output}.copy_(${args.join(", ")})`, s.origin);
      return;
    }
    if (s.call === "out") {
      this.write(n, `${s.kernel}(${[...args, ...kwargs, `out=${s.output}`].join(", ")})`, s.origin);
      return;
    }
    const call = `${s.kernel}(${[...args, ...kwargs].join(", ")})`;
    // an operator that only writes its arguments gives nothing back
    this.write(n, s.results.length === 0 ? call : `${s.output} = ${call}`, s.origin);
    this.bindSizes(n, s);
    const [only] = s.results;
    if (s.results.length === 1 && only && only.name === s.output) this.checkResult(n, only, s, s.call === "fallback");
  }

  /** names for sizes that only the call's results have */
  private bindSizes(n: number, s: Extern): void {
    const tupled = this.unpacked.has(s.output);
    s.results.forEach((r, i) => {
      r?.size.forEach((size, d) => {
        if (typeof size === "number" || !/^u\d+$/.test(size.text) || this.bound.has(size.text)) return;
        this.bound.add(size.text);
        this.write(n, `${size.text} = ${s.output}${tupled ? `[${i}]` : ""}.size(${d})`);
      });
    });
  }

  /** whether memory begins at a multiple of 16 bytes, as far as is known */
  private isAligned(a: PlanArg): boolean {
    if (a.kind === "list") return a.items.every(x => this.isAligned(x));
    if (a.kind === "buffer") return !this.unaligned.has(a.name);
    if (a.kind !== "view") return true;
    const known = typeof a.offset === "number" && (a.offset * itemsize(a.dtype)) % 16 === 0;
    return known && !this.unaligned.has(a.buffer);
  }

  private checkResult(n: number, t: PlanTensor, producer: Extern, alignment: boolean): void {
    const target = `torch.ops.${producer.target ?? producer.op}`;
    const op = pythonString(target);
    if (configBool(this.options, "size_asserts") && !t.size.some(x => x === 0))
      this.write(n, `assert_size_stride(${t.name}, ${shapeTuple(t.size)}, ${shapeTuple(t.stride)}, ${op})`);
    const aligned = !producer.unaligned && producer.args.every(a => this.isAligned(a));
    if (!aligned) this.unaligned.add(t.name);
    if (!alignment || !configBool(this.options, "alignment_asserts")) return;
    if (aligned) this.write(n, `assert_alignment(${t.name}, 16, ${op})`);
    else this.write(n, `# buffer ${t.name} (op: ${target}) is assumed to be not aligned`);
  }

  /** one call for all sums of a workspace; null where one of them is no plain sum into dense memory */
  private together(s: Finish, rest: readonly PlanStep[]): string | null {
    if (!has(this.options, "sums_partials_together")) return null;
    const own = rest.filter((x): x is Finish => x.kind === "finish_partials" && x.workspace === s.workspace);
    const all = [s, ...own];
    if (!all.every((x, slot) => x.slot === slot && x.reduction === "sum" && isDense(x.output))) return null;
    for (const x of own) this.summed.add(x);
    // the launch before it has named the stream
    const outs = all.map(x => `${x.output.name}, `).join("");
    return `sum_partials(${s.workspace}, ${sizeText(s.splits)}, ${sizeText(s.columns)}, (${outs}), ${this.stream})`;
  }

  private partials(s: Finish): string {
    const [rows, cols] = [sizeText(s.splits), sizeText(s.columns)];
    const rebind = has(this.options, "mix_order_rebinds_buffer");
    const p = (x: string): string => (rebind ? `(${x})` : x);
    const slice = `${s.workspace}[${s.slot} * ${p(rows)} * ${p(cols)} : (${s.slot} + 1) * ${p(rows)} * ${p(cols)}]`;
    let text = `${s.output.name} = ${slice}.view(${rows}, ${cols}).${s.reduction}(dim=0)`;
    if (s.output.dtype !== "float32") text += `.to(torch.${s.output.dtype})`;
    if (rebind) text += `.view(${listText(s.output.size)})`;
    return text;
  }
}

function isDense(t: PlanTensor): boolean {
  let step = 1;
  for (let d = t.size.length - 1; d >= 0; d--) {
    const [size, stride] = [t.size[d], t.stride[d]];
    if (typeof size !== "number" || typeof stride !== "number" || (size !== 1 && stride !== step)) return false;
    step *= size;
  }
  return t.offset === 0;
}

const listText = (sizes: readonly PlanSize[]): string => `[${sizes.map(sizeText).join(", ")}]`;
