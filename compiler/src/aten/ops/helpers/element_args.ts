// Arguments of one element of a list operator, so that the element's own record can say what happens to it. In: values by
// parameter name. Out: Args. Promises: a parameter that is not among the values is absent.
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
} from "../../types";

interface Host<T> {
  isTensor(x: unknown): x is T;
  isDim(x: unknown): x is Dim;
  int(n: number): Dim;
  hint(d: Dim): number;
}

export class ElementArgs<T> implements Args<T> {
  constructor(
    private readonly values: Readonly<Record<string, ArgValue<T>>>,
    private readonly host: Host<T>,
  ) {}

  has(name: string): boolean {
    return this.raw(name) !== null;
  }
  isNamed(name: string): boolean {
    return this.has(name);
  }
  raw(name: string): ArgValue<T> {
    return Object.hasOwn(this.values, name) ? (this.values[name] ?? null) : null;
  }
  private wrong(name: string): never {
    throw new OpError(`argument '${name}' has the wrong type`, "TypeError");
  }
  private need<X>(name: string, x: X | null): X {
    return x === null ? this.wrong(name) : x;
  }
  private list(name: string): readonly ArgValue<T>[] | null {
    const v = this.raw(name);
    if (v === null) return null;
    return Array.isArray(v) ? (v as readonly ArgValue<T>[]) : [v];
  }

  isTensor(name: string): boolean {
    return this.host.isTensor(this.raw(name));
  }
  tensor(name: string): T {
    return this.need(name, this.optTensor(name));
  }
  optTensor(name: string): T | null {
    const v = this.raw(name);
    return v === null ? null : this.host.isTensor(v) ? v : this.wrong(name);
  }
  tensors(name: string): T[] {
    return this.optTensors(name).map(t => this.need(name, t));
  }
  optTensors(name: string): (T | null)[] {
    return (this.list(name) ?? []).map(v => (v === null ? null : this.host.isTensor(v) ? v : this.wrong(name)));
  }
  private toInt(name: string, v: ArgValue<T>): number {
    if (typeof v === "number") return v;
    if (typeof v === "bigint" || typeof v === "boolean") return Number(v);
    return !this.host.isTensor(v) && this.host.isDim(v) ? this.host.hint(v) : this.wrong(name);
  }
  int(name: string): number {
    return this.need(name, this.optInt(name));
  }
  optInt(name: string): number | null {
    return this.has(name) ? this.toInt(name, this.raw(name)) : null;
  }
  ints(name: string): number[] {
    return this.need(name, this.optInts(name));
  }
  optInts(name: string): number[] | null {
    return this.list(name)?.map(v => this.toInt(name, v)) ?? null;
  }
  private toDim(name: string, v: ArgValue<T>): Dim {
    return !this.host.isTensor(v) && this.host.isDim(v) ? v : this.host.int(this.toInt(name, v));
  }
  dim(name: string): Dim {
    return this.need(name, this.optDim(name));
  }
  optDim(name: string): Dim | null {
    return this.has(name) ? this.toDim(name, this.raw(name)) : null;
  }
  dims(name: string): Dim[] {
    return this.need(name, this.optDims(name));
  }
  optDims(name: string): Dim[] | null {
    return this.list(name)?.map(v => this.toDim(name, v)) ?? null;
  }
  scalar(name: string): Scalar {
    return this.need(name, this.optScalar(name));
  }
  optScalar(name: string): Scalar | null {
    const v = this.raw(name);
    if (v === null) return null;
    if (typeof v === "number" || typeof v === "bigint" || typeof v === "boolean") return v;
    if (v instanceof PyFloat || v instanceof PyComplex) return v;
    return !this.host.isTensor(v) && this.host.isDim(v) ? this.host.hint(v) : this.wrong(name);
  }
  float(name: string): PyFloat {
    const s = this.scalar(name);
    return s instanceof PyFloat ? s : new PyFloat(this.number(name));
  }
  number(name: string): number {
    return this.need(name, this.optNumber(name));
  }
  optNumber(name: string): number | null {
    const s = this.optScalar(name);
    if (s === null) return null;
    return s instanceof PyFloat ? s.value : s instanceof PyComplex ? this.wrong(name) : Number(s);
  }
  bool(name: string): boolean {
    return this.optBool(name) ?? false;
  }
  optBool(name: string): boolean | null {
    const v = this.raw(name);
    return v === null ? null : typeof v === "boolean" ? v : this.wrong(name);
  }
  str(name: string): string {
    return this.need(name, this.optStr(name));
  }
  optStr(name: string): string | null {
    const v = this.raw(name);
    return v === null ? null : typeof v === "string" ? v : this.wrong(name);
  }
  dtype(name: string): DType | null {
    const v = this.raw(name);
    return v === null ? null : v instanceof DTypeArg ? v.dtype : this.wrong(name);
  }
  device(name: string): Device | null {
    const v = this.raw(name);
    return v === null ? null : v instanceof DeviceArg ? v.device : this.wrong(name);
  }
  memoryFormat(name: string): MemoryFormat | null {
    const v = this.raw(name);
    return v === null ? null : v instanceof MemoryFormatArg ? v.format : this.wrong(name);
  }
}
