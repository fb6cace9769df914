// Test only. Numbers of each dtype, held as float64.
import type { DType } from "../../../../aten/types";

const WIDTH: readonly DType[] = [
  "bool",
  "uint8",
  "int8",
  "uint16",
  "int16",
  "uint32",
  "int32",
  "uint64",
  "int64",
  "float8_e4m3fn",
  "float8_e5m2",
  "float16",
  "bfloat16",
  "float32",
  "float64",
];
export const widest = (ds: readonly DType[]): DType =>
  ds.reduce((a, b) => (WIDTH.indexOf(b) > WIDTH.indexOf(a) ? b : a));

export const isInt = (d: DType): boolean => /int|bool/.test(d);
export const isHalf = (d: DType): boolean => d === "float16" || d === "bfloat16" || d.startsWith("float8");

export function wrapInteger(x: number, d: DType): number {
  switch (d) {
    case "bool":
      return x !== 0 || Number.isNaN(x) ? 1 : 0;
    case "uint8":
      return Math.trunc(x) & 255;
    case "int8":
      return (Math.trunc(x) << 24) >> 24;
    case "int16":
      return (Math.trunc(x) << 16) >> 16;
    case "int32":
      return Math.trunc(x) | 0;
    case "uint16":
      return Math.trunc(x) & 65535;
    case "uint32":
      return Math.trunc(x) >>> 0;
    case "int64":
    case "uint64":
      return Number.isFinite(x) ? Math.trunc(x) : 0;
    default:
      return x;
  }
}

/** a number as the dtype holds it; floats of 32 bits and more stay as they are */
export function held(x: number, d: DType): number {
  return isInt(d) ? wrapInteger(x, d) : isHalf(d) ? roundTo(x, d) : x;
}

/** nearest value of a small float format, ties to even */
export function roundTo(x: number, d: DType): number {
  const format = {
    float16: [10, -14, 65504],
    bfloat16: [7, -126, 3.3895313892515355e38],
    float8_e4m3fn: [3, -6, 448],
    float8_e5m2: [2, -14, 57344],
  }[d as string];
  if (!format || !Number.isFinite(x) || x === 0) return x;
  const [mantissa = 0, least = 0, largest = 0] = format;
  const exponent = Math.max(Math.floor(Math.log2(Math.abs(x))), least);
  const unit = 2 ** (exponent - mantissa);
  const q = x / unit;
  const low = Math.floor(q);
  const rounded = (q - low > 0.5 || (q - low === 0.5 && low % 2 !== 0) ? low + 1 : low) * unit;
  if (Math.abs(rounded) > largest) return d === "float8_e4m3fn" ? Number.NaN : Math.sign(x) * Number.POSITIVE_INFINITY;
  return rounded;
}

export function bitcast(x: number, dtype: DType, srcDtype: DType): number {
  const view = new DataView(new ArrayBuffer(8));
  const put: Partial<Record<DType, () => void>> = {
    float32: () => view.setFloat32(0, x, true),
    float64: () => view.setFloat64(0, x, true),
    int64: () => view.setBigInt64(0, BigInt(x), true),
    bfloat16: () => {
      view.setFloat32(4, roundTo(x, "bfloat16"), true);
      view.setUint16(0, view.getUint16(6, true), true);
    },
    float16: () => view.setUint16(0, halfBits(x), true),
  };
  (put[srcDtype] ?? (() => view.setInt32(0, x | 0, true)))();
  switch (dtype) {
    case "float32":
      return view.getFloat32(0, true);
    case "float64":
      return view.getFloat64(0, true);
    case "int64":
      return Number(view.getBigInt64(0, true));
    case "int32":
      return view.getInt32(0, true);
    case "int16":
      return view.getInt16(0, true);
    case "uint16":
      return view.getUint16(0, true);
    case "int8":
      return view.getInt8(0);
    case "uint8":
      return view.getUint8(0);
    case "bfloat16": {
      const bits = view.getUint16(0, true);
      view.setUint32(4, bits << 16, true);
      return view.getFloat32(4, true);
    }
    case "float16":
      return fromHalfBits(view.getUint16(0, true));
    default:
      throw new Error(`no bit cast to ${dtype}`);
  }
}

function halfBits(x: number): number {
  for (let bits = 0; bits < 0x7c00; bits++)
    if (fromHalfBits(bits) === roundTo(Math.abs(x), "float16")) return bits | (x < 0 ? 0x8000 : 0);
  return 0x7c00 | (x < 0 ? 0x8000 : 0);
}

function fromHalfBits(bits: number): number {
  const e = (bits >> 10) & 31;
  const m = bits & 1023;
  const v =
    e === 0 ? m * 2 ** -24 : e === 31 ? (m ? Number.NaN : Number.POSITIVE_INFINITY) : (1 + m / 1024) * 2 ** (e - 15);
  return bits & 0x8000 ? -v : v;
}
