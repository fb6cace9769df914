// Typed access to bound arguments. In: a binding and a host that knows the stage's handles. Out: Args<T> of types.ts.
// Promises: defaults are filled in; a value of the wrong kind raises OpError (a TypeError of the user's program).
import type { Bound } from "./bind";
import {
  type Args,
  type ArgValue,
  type Device,
  DeviceArg,
  type Dim,
  type DType,
  DTypeArg,
  type MemoryFormat,
  MemoryFormatArg,
  OpError,
  PyComplex,
  PyFloat,
  type Scalar,
} from "./types";

export interface ArgsHost<T> {
  isTensor(x: unknown): x is T;
  isDim(x: unknown): x is Dim;
  int(n: number): Dim;
  /** the constant behind a symbolic int that must be one: guards on the hint when it is symbolic */
  specialize(d: Dim): number;
}

export function makeArgs<T>(bound: Bound<T>, host: ArgsHost<T>): Args<T> {
  return new BoundArgs(bound, host);
}

class BoundArgs<T> implements Args<T> {
  constructor(
    private readonly bound: Bound<T>,
    private readonly host: ArgsHost<T>,
  ) {}

  has(name: string): boolean {
    const v = this.bound.values.get(name);
    return v !== undefined && v !== null;
  }

  isNamed(name: string): boolean {
    const p = this.bound.schema.parameters.find(q => q.name === name);
    return this.has(name) || (p !== undefined && p.defaultValue === undefined);
  }

  raw(name: string): ArgValue<T> {
    const v = this.bound.values.get(name);
    if (v !== undefined) return v;
    const p = this.bound.schema.parameters.find(q => q.name === name);
    // A record that asks for a parameter its schema lacks is a bug of the table.
    if (p === undefined) throw new Error(`${this.bound.schema.name} has no parameter '${name}'`);
    return p.defaultValue === undefined ? null : p.defaultValue;
  }

  private wrong(name: string, wanted: string): never {
    throw new OpError(`${this.bound.schema.packet}(): argument '${name}' must be ${wanted}`, "TypeError");
  }

  isTensor(name: string): boolean {
    return this.host.isTensor(this.raw(name));
  }
  tensor(name: string): T {
    return this.optTensor(name) ?? this.wrong(name, "Tensor, not NoneType");
  }
  optTensor(name: string): T | null {
    const v = this.raw(name);
    if (v === null) return null;
    return this.host.isTensor(v) ? v : this.wrong(name, "Tensor");
  }
  tensors(name: string): T[] {
    return this.optTensors(name).map(t => t ?? this.wrong(name, "tuple of Tensors"));
  }
  optTensors(name: string): (T | null)[] {
    const v = this.raw(name);
    if (v === null) return [];
    if (!Array.isArray(v)) return this.wrong(name, "tuple of Tensors");
    return (v as readonly ArgValue<T>[]).map(x =>
      x === null ? null : this.host.isTensor(x) ? x : this.wrong(name, "tuple of Tensors"),
    );
  }

  /** @throws OpError for what no int64 holds */
  private int64(v: bigint): number {
    if (BigInt.asIntN(64, v) !== v) throw new OpError("Overflow when unpacking long");
    return Number(v);
  }

  private toInt(name: string, v: ArgValue<T>): number {
    if (typeof v === "number") return v;
    if (typeof v === "boolean") return v ? 1 : 0;
    if (typeof v === "bigint") return this.int64(v);
    if (!this.host.isTensor(v) && this.host.isDim(v)) return this.host.specialize(v);
    return this.wrong(name, "int");
  }
  int(name: string): number {
    return this.toInt(name, this.raw(name));
  }
  optInt(name: string): number | null {
    return this.raw(name) === null ? null : this.int(name);
  }
  ints(name: string): number[] {
    return this.optInts(name) ?? this.wrong(name, "tuple of ints, not NoneType");
  }
  optInts(name: string): number[] | null {
    const v = this.raw(name);
    if (v === null) return null;
    return Array.isArray(v) ? (v as readonly ArgValue<T>[]).map(x => this.toInt(name, x)) : [this.toInt(name, v)];
  }

  private toDim(name: string, v: ArgValue<T>): Dim {
    if (typeof v === "number") return this.host.int(v);
    if (typeof v === "bigint") return this.host.int(this.int64(v));
    if (typeof v === "boolean") return this.host.int(v ? 1 : 0);
    if (!this.host.isTensor(v) && this.host.isDim(v)) return v;
    return this.wrong(name, "int");
  }
  dim(name: string): Dim {
    return this.toDim(name, this.raw(name));
  }
  optDim(name: string): Dim | null {
    return this.raw(name) === null ? null : this.dim(name);
  }
  dims(name: string): Dim[] {
    return this.optDims(name) ?? this.wrong(name, "tuple of ints, not NoneType");
  }
  optDims(name: string): Dim[] | null {
    const v = this.raw(name);
    if (v === null) return null;
    return Array.isArray(v) ? (v as readonly ArgValue<T>[]).map(x => this.toDim(name, x)) : [this.toDim(name, v)];
  }

  scalar(name: string): Scalar {
    return this.optScalar(name) ?? this.wrong(name, "Number, not NoneType");
  }
  optScalar(name: string): Scalar | null {
    const v = this.raw(name);
    if (v === null) return null;
    if (
      typeof v === "number" ||
      typeof v === "bigint" ||
      typeof v === "boolean" ||
      v instanceof PyFloat ||
      v instanceof PyComplex
    )
      return v;
    if (!this.host.isTensor(v) && this.host.isDim(v)) return this.host.specialize(v);
    return this.wrong(name, "Number");
  }
  float(name: string): PyFloat {
    const s = this.scalar(name);
    return s instanceof PyFloat ? s : new PyFloat(this.number(name));
  }
  number(name: string): number {
    return this.optNumber(name) ?? this.wrong(name, "Number, not NoneType");
  }
  optNumber(name: string): number | null {
    const s = this.optScalar(name);
    if (s === null) return null;
    if (s instanceof PyFloat) return s.value;
    if (s instanceof PyComplex) return this.wrong(name, "real Number");
    return Number(s);
  }

  bool(name: string): boolean {
    return this.optBool(name) ?? this.wrong(name, "bool, not NoneType");
  }
  optBool(name: string): boolean | null {
    const v = this.raw(name);
    if (v === null) return null;
    if (typeof v === "boolean") return v;
    if (typeof v === "number") return v !== 0;
    return this.wrong(name, "bool");
  }
  str(name: string): string {
    return this.optStr(name) ?? this.wrong(name, "str, not NoneType");
  }
  optStr(name: string): string | null {
    const v = this.raw(name);
    if (v === null) return null;
    return typeof v === "string" ? v : this.wrong(name, "str");
  }

  dtype(name: string): DType | null {
    const v = this.raw(name);
    return v === null ? null : v instanceof DTypeArg ? v.dtype : this.wrong(name, "torch.dtype");
  }
  device(name: string): Device | null {
    const v = this.raw(name);
    if (v === null) return null;
    if (v instanceof DeviceArg) return v.device;
    if (typeof v === "number") return { type: "cuda", index: v };
    if (typeof v === "string") return parseDevice(v) ?? this.wrong(name, "torch.device");
    return this.wrong(name, "torch.device");
  }
  memoryFormat(name: string): MemoryFormat | null {
    const v = this.raw(name);
    return v === null ? null : v instanceof MemoryFormatArg ? v.format : this.wrong(name, "torch.memory_format");
  }
}

/** "cuda", "cuda:1", "cpu", "meta"; a cuda device without index stays so: graphs print it that way */
export function parseDevice(text: string): Device | undefined {
  const m = /^(cuda|cpu|meta)(?::(\d+))?$/.exec(text);
  if (!m) return undefined;
  const type = m[1] as Device["type"];
  return { type, index: type === "cuda" && m[2] !== undefined ? Number(m[2]) : null };
}
