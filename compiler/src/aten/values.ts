// What operators compute with: element types, devices, Python's scalars, what is known of a tensor, symbolic sizes and their
// arithmetic, bound arguments.

export type DType =
  | "float64"
  | "float32"
  | "float16"
  | "bfloat16"
  | "float8_e4m3fn"
  | "float8_e5m2"
  | "int64"
  | "int32"
  | "int16"
  | "int8"
  | "uint8"
  | "uint16"
  | "uint32"
  | "uint64"
  | "bool"
  | "complex64"
  | "complex128";

/** C++ names of element types (torch's ScalarType), as torch's messages show them; the others go by their own names. */
export const SCALAR_TYPE_NAMES: Partial<Record<DType, string>> = {
  bool: "Bool",
  uint8: "Byte",
  int8: "Char",
  int16: "Short",
  int32: "Int",
  int64: "Long",
  float16: "Half",
  bfloat16: "BFloat16",
  float32: "Float",
  float64: "Double",
  complex64: "ComplexFloat",
  complex128: "ComplexDouble",
};

export interface Device {
  readonly type: "cuda" | "cpu" | "meta";
  /** null for cpu */
  readonly index: number | null;
}

export type MemoryFormat = "contiguous_format" | "preserve_format" | "channels_last" | "channels_last_3d";

/** A symbolic integer; structurally an inductor/symbolic Expr, of which records may know nothing. */
export interface Dim {
  readonly kind: string;
  readonly id: number;
}

/** What is known of a tensor without its data. Strides are in elements, outermost first. */
export interface TensorMeta<D extends Dim = Dim> {
  readonly shape: readonly D[];
  readonly stride: readonly D[];
  readonly storageOffset: D;
  readonly dtype: DType;
  readonly device: Device;
  readonly requiresGrad: boolean;
}

/** A Python float (a JS number is a Python int; ints beyond 2**53 are bigint). */
export class PyFloat {
  constructor(protected readonly number: number) {}
  get value(): number {
    return this.number;
  }
  /** asks a float parameter for less than its value */
  is(value: number): boolean {
    return this.number === value;
  }
}
export class PyComplex {
  constructor(
    readonly re: number,
    readonly im: number,
  ) {}
}
export class DTypeArg {
  constructor(readonly dtype: DType) {}
}
export class DeviceArg {
  constructor(readonly device: Device) {}
}
export class LayoutArg {
  constructor(readonly layout: "strided") {}
}
export class MemoryFormatArg {
  constructor(readonly format: MemoryFormat) {}
}

/** Python scalar as a schema's `Scalar`. */
export type Scalar = number | bigint | boolean | PyFloat | PyComplex;

/** A bound argument of an operator whose tensors are handles of type T. Symbolic ints arrive as Dim, lists as arrays. */
export type ArgValue<T> =
  | T
  | Dim
  | Scalar
  | string
  | null
  | DTypeArg
  | DeviceArg
  | LayoutArg
  | MemoryFormatArg
  | readonly ArgValue<T>[];

/** Raised by a record on arguments that PyTorch would refuse too; the stage that called turns it into a diagnostic. */
export class OpError extends Error {
  constructor(
    message: string,
    readonly pythonType: string = "RuntimeError",
  ) {
    super(message);
  }
}

/** Integer arithmetic over Dims. Comparisons guard (decide with the hint and record it) unless named known*. */
export interface DimMath {
  int(n: number): Dim;
  dim(x: Dim | number): Dim;
  add(...xs: (Dim | number)[]): Dim;
  sub(a: Dim | number, b: Dim | number): Dim;
  mul(...xs: (Dim | number)[]): Dim;
  floordiv(a: Dim | number, b: Dim | number): Dim;
  ceildiv(a: Dim | number, b: Dim | number): Dim;
  mod(a: Dim | number, b: Dim | number): Dim;
  min(a: Dim | number, b: Dim | number): Dim;
  max(a: Dim | number, b: Dim | number): Dim;
  product(xs: readonly Dim[]): Dim;
  eq(a: Dim | number, b: Dim | number): boolean;
  lt(a: Dim | number, b: Dim | number): boolean;
  le(a: Dim | number, b: Dim | number): boolean;
  knownEq(a: Dim | number, b: Dim | number): boolean;
  /** the number if it is a constant, else undefined; never guards */
  static(x: Dim | number): number | undefined;
  /** the example value: for messages and choices only, since a graph that it enters is wrong for other sizes */
  hint(x: Dim | number): number;
  /** the value, and a guard that it stays so */
  fixed(x: Dim | number): number;
  /** a float among symbolic numbers: real(2) is 2.0, where a plain 2 is an int */
  real(x: number): Dim;
  /** a / b as a float, for a number argument of an operator */
  truediv(a: Dim | number, b: Dim | number): Dim;
  isDim(x: unknown): x is Dim;
}

/** Typed access to bound arguments by schema name; every getter throws OpError with PyTorch's wording on a mismatch. */
export interface Args<T> {
  has(name: string): boolean; // given and not None
  isNamed(name: string): boolean; // the same, or without a default: calls name it, as None if need be
  raw(name: string): ArgValue<T>;
  tensor(name: string): T;
  optTensor(name: string): T | null;
  tensors(name: string): T[];
  optTensors(name: string): (T | null)[];
  isTensor(name: string): boolean;
  int(name: string): number;
  optInt(name: string): number | null;
  /** ints that must be constants (dims, paddings); a single int counts as a list of one */
  ints(name: string): number[];
  optInts(name: string): number[] | null;
  dim(name: string): Dim; // SymInt
  optDim(name: string): Dim | null;
  dims(name: string): Dim[]; // SymInt[]
  optDims(name: string): Dim[] | null;
  scalar(name: string): Scalar;
  optScalar(name: string): Scalar | null;
  /** numeric value of a Scalar (True = 1) */
  number(name: string): number;
  optNumber(name: string): number | null;
  /** the numeric value as a float to hand on: unlike `number` it leaves a float parameter one */
  float(name: string): PyFloat;
  bool(name: string): boolean;
  optBool(name: string): boolean | null;
  str(name: string): string;
  optStr(name: string): string | null;
  dtype(name: string): DType | null;
  device(name: string): Device | null;
  memoryFormat(name: string): MemoryFormat | null;
}
