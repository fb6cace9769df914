// Element types in memory: size, reading as a number, writing with round-to-nearest-even. Half types and float8 are
// stored as their bits; 64-bit integers are read as numbers (exact to 2**53).

export type DType = string;

const SIZES: Readonly<Record<string, number>> = {
  float64: 8,
  float32: 4,
  float16: 2,
  bfloat16: 2,
  float8_e4m3fn: 1,
  float8_e5m2: 1,
  int64: 8,
  int32: 4,
  int16: 2,
  int8: 1,
  uint8: 1,
  uint16: 2,
  uint32: 4,
  uint64: 8,
  bool: 1,
  complex64: 8,
  complex128: 16,
};

/** bytes of an element; throws on a dtype that is none of torch's */
export function itemSize(dtype: DType): number {
  const size = SIZES[dtype];
  if (size === undefined) throw new Error(`no such dtype: ${dtype}`);
  return size;
}

export interface Accessor {
  /** value of the element at this byte address */
  get(address: number): number;
  set(address: number, value: number): void;
}

/** Element access over a memory's bytes. The buffer of a shared memory that grew is another object: make a new one. */
export function accessor(buffer: ArrayBufferLike, dtype: DType): Accessor {
  switch (dtype) {
    case "float64": {
      const a = new Float64Array(buffer);
      return {
        get: p => a[p >>> 3] ?? 0,
        set: (p, v) => {
          a[p >>> 3] = v;
        },
      };
    }
    case "float32": {
      const a = new Float32Array(buffer);
      return {
        get: p => a[p >>> 2] ?? 0,
        set: (p, v) => {
          a[p >>> 2] = v;
        },
      };
    }
    case "float16": {
      const a = new Uint16Array(buffer);
      return {
        get: p => fromHalf(a[p >>> 1] ?? 0),
        set: (p, v) => {
          a[p >>> 1] = toHalf(v);
        },
      };
    }
    case "bfloat16": {
      const a = new Uint16Array(buffer);
      return {
        get: p => fromBFloat(a[p >>> 1] ?? 0),
        set: (p, v) => {
          a[p >>> 1] = toBFloat(v);
        },
      };
    }
    case "float8_e4m3fn": {
      const a = new Uint8Array(buffer);
      return {
        get: p => fromFloat8(a[p] ?? 0, 3, 7, true),
        set: (p, v) => {
          a[p] = toFloat8(v, 3, 7, true);
        },
      };
    }
    case "float8_e5m2": {
      const a = new Uint8Array(buffer);
      return {
        get: p => fromFloat8(a[p] ?? 0, 2, 15, false),
        set: (p, v) => {
          a[p] = toFloat8(v, 2, 15, false);
        },
      };
    }
    case "int64":
    case "uint64": {
      const a = dtype === "int64" ? new BigInt64Array(buffer) : new BigUint64Array(buffer);
      return {
        get: p => Number(a[p >>> 3] ?? 0n),
        set: (p, v) => {
          a[p >>> 3] = BigInt(Math.trunc(Number.isFinite(v) ? v : 0));
        },
      };
    }
    case "int32": {
      const a = new Int32Array(buffer);
      return {
        get: p => a[p >>> 2] ?? 0,
        set: (p, v) => {
          a[p >>> 2] = v;
        },
      };
    }
    case "uint32": {
      const a = new Uint32Array(buffer);
      return {
        get: p => a[p >>> 2] ?? 0,
        set: (p, v) => {
          a[p >>> 2] = v;
        },
      };
    }
    case "int16": {
      const a = new Int16Array(buffer);
      return {
        get: p => a[p >>> 1] ?? 0,
        set: (p, v) => {
          a[p >>> 1] = v;
        },
      };
    }
    case "uint16": {
      const a = new Uint16Array(buffer);
      return {
        get: p => a[p >>> 1] ?? 0,
        set: (p, v) => {
          a[p >>> 1] = v;
        },
      };
    }
    case "int8": {
      const a = new Int8Array(buffer);
      return {
        get: p => a[p] ?? 0,
        set: (p, v) => {
          a[p] = v;
        },
      };
    }
    case "uint8": {
      const a = new Uint8Array(buffer);
      return {
        get: p => a[p] ?? 0,
        set: (p, v) => {
          a[p] = v;
        },
      };
    }
    case "bool": {
      const a = new Uint8Array(buffer);
      return {
        get: p => (a[p] ? 1 : 0),
        set: (p, v) => {
          a[p] = v ? 1 : 0;
        },
      };
    }
    default:
      throw new NoElementAccess(dtype);
  }
}

const scratch = new DataView(new ArrayBuffer(8));

export function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 0x3ff;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
}

export function toHalf(value: number): number {
  return roundTo(Math.fround(value), {
    mantissa: 10,
    bias: 15,
    exponents: 31,
    infinity: 0x7c00,
    nan: 0x7e00,
    sign: 0x8000,
  });
}

export function fromBFloat(bits: number): number {
  scratch.setUint32(0, bits << 16);
  return scratch.getFloat32(0);
}

function toBFloat(value: number): number {
  scratch.setFloat32(0, value);
  const bits = scratch.getUint32(0);
  if (Number.isNaN(value)) return ((bits >>> 16) | 0x40) & 0xffff;
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

/** float8: e4m3fn has no infinity and one NaN pattern; e5m2 is a short half */
function fromFloat8(bits: number, mantissa: number, bias: number, finite: boolean): number {
  const sign = bits & 0x80 ? -1 : 1;
  const scale = 1 << mantissa;
  const exponent = (bits & 0x7f) >> mantissa;
  const fraction = bits & (scale - 1);
  const top = (1 << (7 - mantissa)) - 1;
  if (exponent === top) {
    if (finite && fraction === scale - 1) return Number.NaN;
    if (!finite) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  }
  return sign * (exponent ? 2 ** (exponent - bias) * (1 + fraction / scale) : 2 ** (1 - bias) * (fraction / scale));
}

function toFloat8(value: number, mantissa: number, bias: number, finite: boolean): number {
  const format = finite
    ? { mantissa, bias, exponents: 16, infinity: 0x7f, nan: 0x7f, sign: 0x80 }
    : { mantissa, bias, exponents: 31, infinity: 0x7c, nan: 0x7f, sign: 0x80 };
  const bits = roundTo(Math.fround(value), format);
  // e4m3fn overflows to NaN, and its largest finite pattern is 0x7e
  return finite && (bits & 0x7f) > 0x7e ? (bits & 0x80) | 0x7f : bits;
}

interface SmallFloat {
  readonly mantissa: number;
  readonly bias: number;
  /** exponent field value that holds no finite number (16 for e4m3fn, where all do) */
  readonly exponents: number;
  readonly infinity: number;
  readonly nan: number;
  readonly sign: number;
}

/** nearest, ties to even, of a float32 value */
function roundTo(value: number, f: SmallFloat): number {
  if (Number.isNaN(value)) return f.nan;
  const sign = value < 0 || Object.is(value, -0) ? f.sign : 0;
  const x = Math.abs(value);
  if (x === 0) return sign;
  if (x === Number.POSITIVE_INFINITY) return sign | f.infinity;
  const least = 1 - f.bias;
  const exponent = Math.max(Math.floor(Math.log2(x)), least);
  // log2 may be off by one next to a power of two
  const e = x >= 2 ** (exponent + 1) ? exponent + 1 : x < 2 ** exponent && exponent > least ? exponent - 1 : exponent;
  const steps = roundHalfEven(x / 2 ** (e - f.mantissa));
  const scale = 1 << f.mantissa;
  let field = e + f.bias;
  let fraction = steps;
  if (steps >= 2 * scale) {
    field += 1;
    fraction = steps / 2;
  }
  if (fraction < scale) return sign | fraction; // subnormal
  if (field >= f.exponents) return sign | f.infinity;
  return sign | ((field << f.mantissa) + (fraction - scale));
}

function roundHalfEven(x: number): number {
  const low = Math.floor(x);
  const rest = x - low;
  return rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? low + 1 : low;
}

/** a dtype whose elements are no single numbers, or none of the executor's */
export class NoElementAccess extends Error {
  constructor(readonly dtype: string) {
    super(`no element access for ${dtype}`);
  }
}

/** dtype of a complex number's parts */
export const PART_OF: Readonly<Record<string, string>> = { complex64: "float32", complex128: "float64" };
