// Values of pointwise operators on constants. In: an operator and numbers. Out: the number in the result's dtype, or
// undefined where the operator is not among those folded. Promises: rounds as the dtype does.
import type { DType } from "../aten/types";

export type Constant = number | bigint | boolean;

const buffer = new DataView(new ArrayBuffer(8));

/** the nearest value of a dtype, ties to even */
export function roundTo(x: number, dtype: DType): number {
  switch (dtype) {
    case "float32":
    case "complex64":
      return Math.fround(x);
    case "bfloat16": {
      if (!Number.isFinite(x)) return x;
      buffer.setFloat32(0, x);
      const bits = buffer.getUint32(0);
      buffer.setUint32(0, (bits + 0x7fff + ((bits >>> 16) & 1)) & 0xffff0000);
      return buffer.getFloat32(0);
    }
    case "float16":
      return roundMantissa(x, 10, -14, 65504);
    case "float8_e4m3fn":
      return roundMantissa(x, 3, -6, 448);
    case "float8_e5m2":
      return roundMantissa(x, 2, -14, 57344);
    default:
      return x;
  }
}

function roundMantissa(x: number, bits: number, minExponent: number, max: number): number {
  if (!Number.isFinite(x) || x === 0) return x;
  const exponent = Math.max(Math.floor(Math.log2(Math.abs(x))), minExponent);
  const step = 2 ** (exponent - bits);
  const q = x / step;
  const floor = Math.floor(q);
  const diff = q - floor;
  const r = (diff > 0.5 || (diff === 0.5 && floor % 2 !== 0) ? floor + 1 : floor) * step;
  return Math.abs(r) > max ? Math.sign(r) * Infinity : r;
}

/** a number as a value of a dtype: bool, integer (wrapped) or rounded float */
export function toDtypeValue(x: Constant, dtype: DType): Constant {
  if (dtype === "bool") return Boolean(x);
  const n = Number(x);
  const width = /^(u?)int(\d+)$/.exec(dtype);
  if (!width) return roundTo(n, dtype);
  if (!Number.isFinite(n)) return 0;
  const whole = typeof x === "bigint" ? x : BigInt(Math.trunc(n));
  const wrapped = width[1] ? BigInt.asUintN(Number(width[2]), whole) : BigInt.asIntN(Number(width[2]), whole);
  return Number.isSafeInteger(Number(wrapped)) ? Number(wrapped) : wrapped;
}

function roundHalfEven(x: number): number {
  const f = Math.floor(x);
  const d = x - f;
  return d > 0.5 || (d === 0.5 && f % 2 !== 0) ? f + 1 : f;
}

const UNARY: Readonly<Record<string, (x: number) => Constant>> = {
  abs: Math.abs,
  neg: x => -x,
  exp: Math.exp,
  exp2: x => 2 ** x,
  expm1: Math.expm1,
  log: Math.log,
  log2: Math.log2,
  log10: Math.log10,
  log1p: Math.log1p,
  sqrt: Math.sqrt,
  rsqrt: x => 1 / Math.sqrt(x),
  reciprocal: x => 1 / x,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  tanh: Math.tanh,
  sinh: Math.sinh,
  cosh: Math.cosh,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  sigmoid: x => 1 / (1 + Math.exp(-x)),
  relu: x => (x > 0 ? x : Number.isNaN(x) ? x : 0),
  floor: Math.floor,
  ceil: Math.ceil,
  trunc: Math.trunc,
  round: roundHalfEven,
  sign: Math.sign,
  square: x => x * x,
  clone: x => x,
  isnan: x => Number.isNaN(x),
  isinf: x => Math.abs(x) === Infinity,
  logical_not: x => x === 0,
  positive: x => x,
  alias: x => x,
  lift_fresh_copy: x => x,
};

const BINARY: Readonly<Record<string, (x: number, y: number) => Constant>> = {
  add: (x, y) => x + y,
  sub: (x, y) => x - y,
  mul: (x, y) => x * y,
  div: (x, y) => x / y,
  pow: (x, y) => x ** y,
  maximum: (x, y) => (Number.isNaN(x) || Number.isNaN(y) ? Number.NaN : Math.max(x, y)),
  minimum: (x, y) => (Number.isNaN(x) || Number.isNaN(y) ? Number.NaN : Math.min(x, y)),
  clamp_min: (x, y) => (Number.isNaN(x) ? x : Math.max(x, y)),
  clamp_max: (x, y) => (Number.isNaN(x) ? x : Math.min(x, y)),
  eq: (x, y) => x === y,
  ne: (x, y) => x !== y,
  lt: (x, y) => x < y,
  le: (x, y) => x <= y,
  gt: (x, y) => x > y,
  ge: (x, y) => x >= y,
  logical_and: (x, y) => x !== 0 && y !== 0,
  logical_or: (x, y) => x !== 0 || y !== 0,
  logical_xor: (x, y) => (x !== 0) !== (y !== 0),
  fmod: (x, y) => x % y,
  remainder: (x, y) => x - y * Math.floor(x / y),
  atan2: Math.atan2,
};

/** `packet` without namespace; arguments as numbers, in order */
export function foldPointwise(
  packet: string,
  args: readonly Constant[],
  kwargs: ReadonlyMap<string, unknown>,
  dtype: DType,
): Constant | undefined {
  const [x, y, z] = args.map(Number);
  if (packet === "where" && args.length === 3) return toDtypeValue((args[0] ? args[1] : args[2]) as Constant, dtype);
  if (packet === "scalar_tensor" || packet === "convert_element_type" || packet === "_to_copy")
    return toDtypeValue(args[0] as Constant, dtype);
  const alpha = kwargs.get("alpha");
  if (kwargs.has("rounding_mode") || (alpha !== undefined && typeof alpha !== "number")) return undefined;
  if (args.length === 1 && Object.hasOwn(UNARY, packet)) {
    const r = UNARY[packet]?.(x as number);
    return r === undefined ? undefined : toDtypeValue(r, dtype);
  }
  if (args.length === 2 && Object.hasOwn(BINARY, packet)) {
    const r = BINARY[packet]?.(x as number, (y as number) * (typeof alpha === "number" ? alpha : 1));
    return r === undefined ? undefined : toDtypeValue(r, dtype);
  }
  if (packet === "clamp" && z !== undefined)
    return toDtypeValue(Math.min(Math.max(x as number, y as number), z), dtype);
  return undefined;
}
