// Test only. Runs generated kernels through wabt beside the interpreter of their bodies. In: a schedule. Out: the
// differences, kernel by kernel. Promises: each kernel starts from the same numbers on both sides.

import type { DType } from "@fuselens/compiler/aten/types";
import { generateWat } from "@fuselens/compiler/inductor/codegen/wat/index";
import { leavesOf } from "@fuselens/compiler/inductor/codegen/wat/kernel";
import type { Part } from "@fuselens/compiler/inductor/codegen/wat/part";
import type { KernelSizes } from "@fuselens/compiler/inductor/codegen/wat/sizes";
import { type Buffers, interpretBody } from "@fuselens/compiler/inductor/codegen/wat/testing/interpret";
import { acrossDim, type PartMode } from "@fuselens/compiler/inductor/codegen/wat/vector_plan";
import { itemSize } from "@fuselens/compiler/inductor/codegen/wat/wat_types";
import type { PlanSize, WatKernel } from "@fuselens/compiler/inductor/plan/types";
import type { AnyNode, Schedule, SchedulerNode } from "@fuselens/compiler/inductor/scheduler/types";
import type { SymExpr } from "@fuselens/compiler/inductor/symbolic/expr";
import loadWabt from "wabt";
import { hasRelaxedSimd, withoutRelaxedSimd } from "../../gpu-worker/src/cpu/relaxed_simd";

const FEATURES = {
  threads: true,
  simd: true,
  bulk_memory: true,
  sat_float_to_int: true,
  mutable_globals: true,
  sign_extension: true,
  multi_value: true,
  relaxed_simd: true,
};
const PAGE = 65536;
const FIRST = 1024;
/** kernels with so many times the work that is interpreted still run */
const EXECUTED = 40;
const FLOAT64_TOLERANCE = 1e-11;
/** below it a difference is underflow */
const TINY = 1e-37;

const wabt = await loadWabt();

/** `relaxed`: as in a worker whose V8 has relaxed SIMD, else as in one without; by default as this process has it */
export function compileWat(text: string, relaxed = hasRelaxedSimd()): WebAssembly.Module {
  const parsed = wabt.parseWat("kernel.wat", relaxed ? text : withoutRelaxedSimd(text), FEATURES);
  try {
    return new WebAssembly.Module(parsed.toBinary({}).buffer as BufferSource);
  } finally {
    parsed.destroy();
  }
}

export interface Difference {
  readonly buffer: string;
  readonly at: number;
  readonly got: number;
  readonly want: number;
}

export interface KernelCheck {
  readonly kernel: WatKernel;
  readonly node: AnyNode;
  /** largest differences, empty if all agree */
  readonly differences: readonly Difference[];
  /** false: too much work, the kernel was only compiled */
  readonly ran: boolean;
}

export interface CheckOptions {
  /** loop turns of a kernel's members that are still interpreted */
  readonly limit?: number;
  /** relative to the buffer's mean magnitude and the value's own */
  readonly tolerance?: number;
  readonly fill?: (buffer: string, dtype: DType, i: number) => number;
  /** values of inputs whose kernels should see these, not the filled ones */
  readonly data?: ReadonlyMap<string, readonly number[]>;
  readonly slices?: number;
  /** how loops run where they can run so; for all tests by FUSELENS_MODE */
  readonly mode?: Mode;
}

export type Mode = PartMode["kind"];

/** the wanted way if the part has the dims for it */
function prefer(mode: Mode | undefined): ((part: Part, sizes: KernelSizes) => PartMode | null) | undefined {
  if (!mode) return undefined;
  return (part, sizes) => {
    const last = part.space.x[part.space.x.length - 1];
    const sequential = part.segments.some(s =>
      s.members.some(m => m.body.block.nodes.some(n => n.op === "scan" || n.op === "sort")),
    );
    if (part.atomic || sequential) return null;
    switch (mode) {
      case "scalar":
      case "last":
        return { kind: mode };
      case "columns":
        return part.reduces && last ? { kind: mode } : null;
      case "tiles": {
        const members = part.segments.flatMap(s => s.members);
        const across = !part.reduces && last ? acrossDim(part, members, last, sizes, 1) : null;
        return across ? { kind: mode, across } : null;
      }
      default: {
        const never: never = mode;
        return never;
      }
    }
  };
}

/** a hash into [-1, 1) */
export function noise(i: number, k: number): number {
  let h = Math.imul(i + 1, 0x9e3779b1) ^ Math.imul(k + 1, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  h ^= h >>> 13;
  return (h | 0) / 2 ** 31;
}

export class KernelChecker {
  readonly memory: WebAssembly.Memory;
  private readonly addresses = new Map<string, number>();
  private top = FIRST;
  private readonly limit: number;
  private readonly tolerance: number;

  constructor(
    readonly schedule: Schedule,
    private readonly options: CheckOptions = {},
  ) {
    this.memory = new WebAssembly.Memory({ initial: 1, maximum: PAGE, shared: true });
    this.limit = options.limit ?? 200_000;
    this.tolerance = options.tolerance ?? 1e-5;
  }

  run(): KernelCheck[] {
    const out: KernelCheck[] = [];
    for (const node of this.schedule.nodes) {
      const result = this.runNode(node);
      if (result) out.push(result);
    }
    return out;
  }

  /** null: the node is no generated kernel */
  runNode(node: AnyNode): KernelCheck | null {
    return leavesOf(node).every(l => l.type === "SchedulerNode") ? this.kernel(node) : null;
  }

  private hint(e: Parameters<Schedule["graph"]["sizevars"]["sizeHint"]>[0]): number {
    return this.schedule.graph.sizevars.optimizationHint(e);
  }

  private layout(buffer: string) {
    const { graph } = this.schedule;
    const l = graph.buffers.get(buffer)?.layout ?? graph.inputs.find(i => i.name === buffer)?.layout;
    if (!l || !("size" in l)) throw new Error(`no layout of ${buffer}`);
    return l;
  }
  private real(buffer: string): string {
    return this.schedule.mutationRealName.get(buffer) ?? buffer;
  }
  private elements(buffer: string): number {
    const l = this.layout(buffer);
    if (l.size.some(s => this.hint(s) === 0)) return 0;
    return l.size.reduce((n, s, d) => n + (this.hint(s) - 1) * this.hint(l.stride[d] as (typeof l.stride)[number]), 1);
  }

  private address(name: string): number {
    const buffer = this.real(name);
    const known = this.addresses.get(buffer);
    if (known !== undefined) return known;
    const l = this.layout(buffer);
    let at: number;
    if (l.kind === "non_owning") {
      at = this.address(l.base) + this.hint(l.baseOffset ?? l.offset) * itemSize(l.dtype);
      this.addresses.set(buffer, at);
      return at;
    }
    const n = this.elements(buffer);
    at = this.reserve(n * itemSize(l.dtype));
    this.addresses.set(buffer, at);
    const given = this.options.data?.get(buffer);
    // what is executed but not compared may as well be zeros
    if (n > this.limit * 10 && !given) return at;
    // what no kernel computed may be a weight
    const computed = this.schedule.graph.buffers.has(buffer);
    const fill = this.options.fill ?? (computed ? positiveFill : defaultFill);
    const values = given ?? Array.from({ length: n }, (_, i) => fill(buffer, l.dtype, i));
    writeValues(this.memory.buffer, at, l.dtype, values);
    return at;
  }

  private reserve(bytes: number): number {
    const at = this.top;
    this.top += Math.ceil(Math.max(1, bytes) / 64) * 64 + 64;
    const need = Math.ceil(this.top / PAGE) - this.memory.buffer.byteLength / PAGE;
    if (need > 0) this.memory.grow(need);
    return at;
  }

  /** buffers that nothing outside of the node reads */
  private removed(node: AnyNode): Set<string> {
    const inside = new Set<SchedulerNode>(leavesOf(node));
    const names = [...inside].flatMap(l => l.outputs);
    return new Set(
      names
        .filter(b => !this.schedule.mutationRealName.has(b.name) && b.buffer.layout.kind !== "non_owning")
        .filter(
          b => b.users.length > 0 && b.users.every(u => u.node !== null && leavesOf(u.node).every(l => inside.has(l))),
        )
        .filter(b => !this.schedule.graph.outputs.some(o => o && "buffer" in o && this.real(o.buffer) === b.name))
        .map(b => b.name),
    );
  }

  generate(node: AnyNode): WatKernel {
    const mode = this.options.mode ?? (process.env.FUSELENS_MODE as Mode | undefined);
    return generateWat(node, this.schedule, {
      removedBuffers: this.removed(node),
      file: "model.py",
      name: "kernel",
      prefer: prefer(mode),
    });
  }

  /** runs the node's kernel without comparing */
  executeNode(node: AnyNode): void {
    const kernel = this.generate(node);
    this.execute(kernel, compileWat(kernel.text));
  }

  kernel(node: AnyNode): KernelCheck {
    const removedBuffers = this.removed(node);
    const kernel = this.generate(node);
    const module = compileWat(kernel.text);
    const leaves = leavesOf(node);
    const work = leaves.reduce((n, l) => n + [...l.sizes[0], ...l.sizes[1]].reduce((p, s) => p * this.hint(s), 1), 0);
    const touched = Math.max(work, ...kernel.buffers.map(b => this.elements(b)));
    if (work > this.limit || touched > this.limit * EXECUTED) {
      // later kernels want sensible numbers
      if (touched <= this.limit * EXECUTED) this.execute(kernel, module);
      return { kernel, node, differences: [], ran: false };
    }
    // the interpreter starts from what is in memory now
    for (const b of kernel.buffers) this.address(b);
    const arrays = new Map<string, Float64Array>();
    const buffers: Buffers = {
      dtype: b => this.layout(b).dtype,
      get: name => {
        const b = this.real(name);
        let a = arrays.get(b);
        if (!a) {
          a = removedBuffers.has(b)
            ? new Float64Array(this.elements(b))
            : readValues(this.memory.buffer, this.address(b), this.layout(b).dtype, this.elements(b));
          arrays.set(b, a);
        }
        return a;
      },
    };
    const sizeOf = (s: SymExpr): number | undefined => this.schedule.graph.sizevars.hint(s);
    for (const b of kernel.buffers) buffers.get(b);
    let problem: unknown = null;
    try {
      for (const l of leaves)
        if (l.body && !this.schedule.removedOps.has(l.name)) interpretBody(l.body, buffers, sizeOf);
    } catch (e) {
      problem = e;
    }
    this.execute(kernel, module);
    if (problem) throw problem;
    const written = new Set(
      leaves.flatMap(l => l.outputs.map(o => this.real(o.name))).filter(b => !removedBuffers.has(b)),
    );
    const differences = [...written].flatMap(b => this.compare(b, arrays.get(b) ?? new Float64Array()));
    return { kernel, node, differences, ran: true };
  }

  execute(kernel: WatKernel, module: WebAssembly.Module): void {
    const value = (s: PlanSize): number => (typeof s === "number" ? s : s.value);
    const symbols = (kernel.symbols ?? []).map(
      n => this.schedule.graph.sizevars.hint([...this.schedule.graph.symbols].find(s => s.name === n) as SymExpr) ?? 0,
    );
    const args = [
      ...kernel.buffers.map(b => this.address(b)),
      ...(kernel.temps ?? []).map(t => this.reserve(value(t))),
      ...symbols,
      ...(value(kernel.scratchBytes) ? [this.reserve(value(kernel.scratchBytes))] : []),
    ];
    const instance = new WebAssembly.Instance(module, { env: { memory: this.memory } });
    [{ parallelSize: kernel.parallelSize, grain: kernel.grain }, ...(kernel.later ?? [])].forEach((phase, i) => {
      const run = instance.exports[i === 0 ? "run" : `run_${i}`] as (...xs: number[]) => void;
      const total = value(phase.parallelSize);
      const slices = phase.grain > total ? 1 : Math.min(total, this.options.slices ?? 3);
      for (let s = 0; s < slices; s++) {
        const cut = (i: number): number => {
          const at = Math.floor((total * i) / slices);
          return i === slices ? total : phase.grain >= 64 ? at - (at % 64) : at;
        };
        run(...args, cut(s), cut(s + 1));
      }
    });
  }

  values(buffer: string): Float64Array {
    return readValues(this.memory.buffer, this.address(buffer), this.layout(buffer).dtype, this.elements(buffer));
  }

  private compare(buffer: string, want: Float64Array): Difference[] {
    const { dtype } = this.layout(buffer);
    const got = this.values(buffer);
    const mean = want.reduce((s, x) => s + (Number.isFinite(x) ? Math.abs(x) : 0), 0) / Math.max(1, want.length);
    const unit =
      { float16: 2 ** -10, bfloat16: 2 ** -7, float8_e4m3fn: 2 ** -3, float8_e5m2: 2 ** -2 }[dtype as string] ?? 0;
    const rel = /int|bool/.test(dtype) ? 0 : dtype === "float64" ? FLOAT64_TOLERANCE : this.tolerance + unit;
    const out: Difference[] = [];
    for (let i = 0; i < want.length; i++) {
      const [g, w] = [got[i] as number, want[i] as number];
      const same =
        Object.is(g, w) ||
        g === w ||
        (Number.isNaN(g) && Number.isNaN(w)) ||
        Math.abs(g - w) <= rel * (Math.abs(w) + mean) + (rel && TINY);
      // a number beyond f32 is infinity in it
      const overflow =
        Math.abs(g) === Number.POSITIVE_INFINITY && Math.abs(w) > 3.4e38 && Math.sign(g) === Math.sign(w);
      if (!same && !overflow) out.push({ buffer, at: i, got: g, want: w });
      if (out.length >= 5) break;
    }
    return out;
  }
}

const positiveFill = (buffer: string, dtype: DType, i: number): number => {
  const x = defaultFill(buffer, dtype, i);
  return /int|bool/.test(dtype) ? x : Math.abs(x) + 0.1;
};

function defaultFill(buffer: string, dtype: DType, i: number): number {
  const k = [...buffer].reduce((h, c) => (h * 31 + c.charCodeAt(0)) | 0, 7);
  const x = noise(i, k);
  if (dtype === "bool") return x > 0 ? 1 : 0;
  if (/int/.test(dtype)) return Math.abs(Math.floor(x * 4)) % 3;
  return 1.5 * x;
}

export function writeValues(buffer: ArrayBufferLike, address: number, dtype: DType, values: ArrayLike<number>): void {
  if (dtype === "float32") return new Float32Array(buffer, address, values.length).set(values);
  const view = new DataView(buffer);
  const width = itemSize(dtype);
  const one = new Float32Array(1);
  const halves = new Uint16Array(one.buffer);
  for (let i = 0; i < values.length; i++) {
    const at = address + i * width;
    const v = values[i] as number;
    switch (dtype) {
      case "float64":
        view.setFloat64(at, v, true);
        break;
      case "int64":
      case "uint64":
        view.setBigInt64(at, BigInt(Math.trunc(v)), true);
        break;
      case "int32":
      case "uint32":
        view.setInt32(at, v, true);
        break;
      case "int16":
      case "uint16":
        view.setInt16(at, v, true);
        break;
      case "bfloat16":
        one[0] = v;
        view.setUint16(at, halves[1] as number, true);
        break;
      case "float16":
        view.setUint16(at, Math.abs(v) < 6e-5 ? 0 : halfOf(v), true);
        break;
      default:
        view.setInt8(at, dtype === "bool" ? (v ? 1 : 0) : dtype.startsWith("float8") ? Math.abs(v) * 8 : v);
    }
  }
}

/** bits of a normal half, truncated */
function halfOf(v: number): number {
  const bits = new Uint32Array(new Float32Array([v]).buffer)[0] as number;
  return ((bits >>> 16) & 0x8000) | ((((bits & 0x7fffffff) - 0x38000000) >>> 13) & 0x7fff);
}

export function readValues(buffer: ArrayBufferLike, address: number, dtype: DType, count: number): Float64Array {
  if (dtype === "float32") return Float64Array.from(new Float32Array(buffer, address, count));
  const view = new DataView(buffer);
  const width = itemSize(dtype);
  const out = new Float64Array(count);
  const small = new DataView(new ArrayBuffer(4));
  for (let i = 0; i < count; i++) {
    const at = address + i * width;
    switch (dtype) {
      case "float64":
        out[i] = view.getFloat64(at, true);
        break;
      case "int64":
      case "uint64":
        out[i] = Number(view.getBigInt64(at, true));
        break;
      case "int32":
        out[i] = view.getInt32(at, true);
        break;
      case "uint32":
        out[i] = view.getUint32(at, true);
        break;
      case "int16":
        out[i] = view.getInt16(at, true);
        break;
      case "uint16":
        out[i] = view.getUint16(at, true);
        break;
      case "bfloat16":
        small.setUint16(0, view.getUint16(at, true));
        small.setUint16(2, 0);
        out[i] = small.getFloat32(0);
        break;
      case "float16": {
        const h = view.getUint16(at, true);
        const e = (h >> 10) & 31;
        const m = h & 1023;
        out[i] =
          (h & 0x8000 ? -1 : 1) *
          (e === 0
            ? m * 2 ** -24
            : e === 31
              ? m
                ? Number.NaN
                : Number.POSITIVE_INFINITY
              : (1 + m / 1024) * 2 ** (e - 15));
        break;
      }
      case "float8_e4m3fn":
      case "float8_e5m2": {
        const b = view.getUint8(at);
        const bits = dtype === "float8_e4m3fn" ? 3 : 2;
        const bias = bits === 3 ? 7 : 15;
        const e = (b & 127) >> bits;
        const m = b & ((1 << bits) - 1);
        const v = e === 0 ? (m / (1 << bits)) * 2 ** (1 - bias) : (1 + m / (1 << bits)) * 2 ** (e - bias);
        const nan = bits === 3 ? (b & 127) === 127 : (b & 127) > 0x7c;
        out[i] = nan ? Number.NaN : bits === 2 && (b & 127) === 0x7c ? Number.POSITIVE_INFINITY : v;
        if (b & 128) out[i] = -(out[i] as number);
        break;
      }
      case "int8":
        out[i] = view.getInt8(at);
        break;
      default:
        out[i] = view.getUint8(at);
    }
  }
  return out;
}
