// MetaBuilder for one graph. In: the graph's shape environment. Out: what a record's meta rule may use.
// Promises: shapes, strides and dtypes as PyTorch's fake tensors have them (TensorIterator's stride order included).
import { int } from "../inductor/symbolic/expr";
import { makeArgs } from "./args";
import { autocastCall } from "./autocast";
import type { Bound } from "./bind";
import { makeDimMath, type ShapeGuards } from "./dim_math";
import { promoteElementwise } from "./promotion";
import { mustLookup } from "./registry";
import { parseSchema } from "./schema";
import {
  type ArgValue,
  type Device,
  type Dim,
  type DimMath,
  type DType,
  type MemoryFormat,
  type MetaBuilder,
  OpError,
  type OpRecord,
  type TensorMeta,
} from "./types";

export interface MetaDefaults {
  readonly dtype: DType;
  readonly device: Device;
  readonly config: (name: string) => unknown;
  /** the autocast region that calls stand in */
  readonly autocast?: () => { readonly dtype: DType; readonly device: string } | null;
}

/** The builder of one graph, which knows the autocast region that its calls stand in. */
export interface GraphMetaBuilder extends MetaBuilder {
  /** a record's meta rule for a bound call */
  run(record: OpRecord, bound: Bound<TensorMeta>): ReturnType<OpRecord["meta"]>;
}

const CAST_HOST = {
  isTensor: isTensorMeta,
  meta: (t: TensorMeta) => t,
  cast: (t: TensorMeta, dtype: DType) => ({ ...t, dtype }),
};

const DEFAULTS: MetaDefaults = { dtype: "float32", device: { type: "cpu", index: null }, config: () => undefined };

export function makeMetaBuilder(env: ShapeGuards, defaults: MetaDefaults = DEFAULTS): GraphMetaBuilder {
  const m = makeDimMath(env);
  const fail = (message: string, pythonType?: string): never => {
    throw new OpError(message, pythonType);
  };
  const host = { isTensor: isTensorMeta, isDim: m.isDim, int: m.int, specialize: m.hint };
  /** behind a call that a region has cast */
  let inside = false;
  const builder: GraphMetaBuilder = {
    ...m,
    tensor: (shape, like, stride) => makeTensorMeta(m, shape, like, stride),
    contiguous: shape => contiguousStrides(m, shape.map(m.dim)),
    channelsLast: shape => channelsLastStrides(m, shape),
    isContiguous: (t, format) => isContiguous(m, t, format),
    broadcast: (...shapes) => broadcastShapes(m, shapes),
    promote: (kind, ...operands) => promoteElementwise(kind, operands),
    elementwise: (dtype, ...operands) => elementwiseMeta(m, dtype, operands),
    unbacked: () => env.unbacked(),
    wrapDim,
    fail,
    meta: t => t,
    isTensor: isTensorMeta,
    training: () => false,
    literal: spec => makeTensorMeta(m, spec.shape, spec),
    defaultDType: () => defaults.dtype,
    defaultDevice: () => defaults.device,
    config: defaults.config,
    run: (record, bound) => {
      const region = inside ? null : (defaults.autocast?.() ?? null);
      const cast =
        region === null
          ? undefined
          : autocastCall(record, bound, region.dtype, { ...CAST_HOST, device: region.device });
      const outer = inside;
      inside ||= cast !== undefined;
      try {
        return record.meta(builder, makeArgs<TensorMeta>(cast ?? bound, host));
      } finally {
        inside = outer;
      }
    },
    call: (op, args, kwargs = {}) => {
      const r = runMeta(builder, op, args, kwargs);
      if (isTensorMeta(r)) return r;
      throw new Error(`${op} has several results`);
    },
    callMany: (op, args, kwargs = {}) => {
      const r = runMeta(builder, op, args, kwargs);
      // a slot without a tensor keeps its place, as a traced tuple has it
      return isTensorMeta(r) ? [r] : ([...r] as TensorMeta[]);
    },
  };
  return builder;
}

function makeTensorMeta(
  m: DimMath,
  shape: readonly (Dim | number)[],
  like: { dtype: DType; device: Device },
  stride?: readonly (Dim | number)[],
): TensorMeta {
  const sizes = shape.map(m.dim);
  return {
    shape: sizes,
    stride: stride ? stride.map(m.dim) : contiguousStrides(m, sizes),
    storageOffset: int(0),
    dtype: like.dtype,
    // the current device
    device: like.device.type === "cuda" && like.device.index === null ? { type: "cuda", index: 0 } : like.device,
    requiresGrad: false,
  };
}

/** at::maybe_wrap_dim; a 0-d tensor has the dims -1 and 0 */
export function wrapDim(d: number, rank: number): number {
  const n = Math.max(rank, 1);
  if (d < -n || d >= n) {
    throw new OpError(
      `Dimension out of range (expected to be in range of [${-n}, ${n - 1}], but got ${d})`,
      "IndexError",
    );
  }
  return d < 0 ? d + n : d;
}

/** Row-major strides; an empty dim counts as 1. */
export function contiguousStrides(m: DimMath, shape: readonly Dim[]): Dim[] {
  const stride: Dim[] = new Array<Dim>(shape.length);
  let next: Dim = m.int(1);
  for (let i = shape.length - 1; i >= 0; i--) {
    stride[i] = next;
    // a dim that may be empty counts as one element
    next = m.mul(next, m.max(shape[i] as Dim, 1));
  }
  return stride;
}

const CHANNELS_LAST_ORDER: Readonly<Record<number, readonly number[]>> = { 4: [1, 3, 2, 0], 5: [1, 4, 3, 2, 0] };

export function channelsLastStrides(m: DimMath, shape: readonly Dim[]): Dim[] {
  const order = CHANNELS_LAST_ORDER[shape.length];
  if (order === undefined) throw new OpError("required rank 4 tensor to use channels_last format");
  return stridesInOrder(m, shape, order);
}

/** dense strides with the dims of `order` innermost first */
function stridesInOrder(m: DimMath, shape: readonly Dim[], order: readonly number[]): Dim[] {
  const stride: Dim[] = new Array<Dim>(shape.length);
  let next: Dim = m.int(1);
  for (const d of order) {
    stride[d] = next;
    next = m.mul(next, m.max(shape[d] as Dim, 1));
  }
  return stride;
}

function isDenseInOrder(m: DimMath, t: TensorMeta, order: readonly number[]): boolean {
  let expected: Dim = m.int(1);
  for (const d of order) {
    const size = t.shape[d] as Dim;
    if (m.eq(size, 1)) continue;
    if (!m.eq(t.stride[d] as Dim, expected)) return false;
    expected = m.mul(expected, size);
  }
  return true;
}

/** Tensor.is_contiguous(memory_format=...) */
export function isContiguous(m: DimMath, t: TensorMeta, format: MemoryFormat = "contiguous_format"): boolean {
  if (t.shape.some(s => m.static(s) === 0)) return true;
  if (format === "channels_last" || format === "channels_last_3d") {
    const order = CHANNELS_LAST_ORDER[format === "channels_last" ? 4 : 5] as readonly number[];
    return t.shape.length === order.length && isDenseInOrder(m, t, order);
  }
  return isDenseInOrder(
    m,
    t,
    t.shape.map((_, i) => t.shape.length - 1 - i),
  );
}

/** at::infer_size over all shapes */
export function broadcastShapes(m: DimMath, shapes: readonly (readonly Dim[])[]): Dim[] {
  let result: readonly Dim[] = [];
  for (const shape of shapes) {
    const rank = Math.max(result.length, shape.length);
    const next: Dim[] = new Array<Dim>(rank);
    for (let i = rank - 1; i >= 0; i--) {
      const a = result[i - (rank - result.length)];
      const b = shape[i - (rank - shape.length)];
      if (a === undefined || b === undefined) next[i] = (a ?? b) as Dim;
      else if (a === b || m.static(b) === 1) next[i] = a;
      else if (m.static(a) === 1) next[i] = b;
      else if (m.eq(a, b)) next[i] = m.static(b) === undefined ? a : b;
      else if (m.static(a) === undefined && m.eq(a, 1)) next[i] = b;
      else if (m.static(b) === undefined && m.eq(b, 1)) next[i] = a;
      else {
        throw new OpError(
          `The size of tensor a (${m.hint(a)}) must match the size of tensor b (${m.hint(b)}) at non-singleton dimension ${i}`,
        );
      }
    }
    result = next;
  }
  return [...result];
}

/** The device an operator on these operands runs on: 0-d CPU tensors go along with any other. */
function commonDevice(operands: readonly TensorMeta[]): Device {
  let device: Device | undefined;
  let onlyScalars = true;
  for (const t of operands) {
    const scalarOnCpu = t.device.type === "cpu" && t.shape.length === 0;
    if (device === undefined || (onlyScalars && !scalarOnCpu)) {
      device = t.device;
      onlyScalars = scalarOnCpu;
    } else if (!scalarOnCpu && (t.device.type !== device.type || t.device.index !== device.index)) {
      throw new OpError(
        `Expected all tensors to be on the same device, but found at least two devices, ${deviceText(device)} and ${deviceText(t.device)}!`,
      );
    }
  }
  return device ?? { type: "cpu", index: null };
}

export function deviceText(d: Device): string {
  return d.index === null ? d.type : `${d.type}:${d.index}`;
}

export function elementwiseMeta(m: DimMath, dtype: DType, operands: readonly TensorMeta[]): TensorMeta {
  const device = commonDevice(operands);
  const shape = broadcastShapes(
    m,
    operands.map(t => t.shape),
  );
  return makeTensorMeta(m, shape, { dtype, device }, elementwiseStrides(m, shape, operands));
}

/** Strides that TensorIterator gives an output of this shape. */
function elementwiseStrides(m: DimMath, shape: readonly Dim[], operands: readonly TensorMeta[]): Dim[] {
  const rank = shape.length;
  const same = operands.every(
    t => t.shape.length === rank && t.shape.every((s, i) => s === shape[i] || m.knownEq(s, shape[i] as Dim)),
  );
  if (same) {
    const contiguous = operands.every(t => isContiguous(m, t));
    const channelsLast = rank === 4 && operands.every(t => isContiguous(m, t, "channels_last"));
    if (contiguous && !channelsLast) return contiguousStrides(m, shape);
    if (channelsLast && !contiguous) return channelsLastStrides(m, shape);
    // other dense operands, and what could be either (N, C, 1, 1), keep the order of their strides: tensors without data
    // take no shortcut
  }
  const strides = operands.map(t => broadcastStrides(m, t, shape));
  return stridesInOrder(m, shape, iterationOrder(m, shape, strides));
}

/** strides over the broadcast shape: 0 where the operand is expanded */
function broadcastStrides(m: DimMath, t: TensorMeta, shape: readonly Dim[]): (Dim | 0)[] {
  const lead = shape.length - t.shape.length;
  return shape.map((s, i) => {
    const own = t.shape[i - lead];
    if (i < lead || own === undefined) return 0;
    if (m.static(own) === 1 && m.static(s) !== 1) return 0;
    return t.stride[i - lead] as Dim;
  });
}

/** TensorIteratorBase::reorder_dimensions: dims, innermost first */
function iterationOrder(m: DimMath, shape: readonly Dim[], strides: readonly (readonly (Dim | 0)[])[]): number[] {
  const order = shape.map((_, i) => shape.length - 1 - i);
  const compare = (d0: number, d1: number): number => {
    for (const s of strides) {
      const a = s[d0] as Dim | 0;
      const b = s[d1] as Dim | 0;
      if (a === 0 || b === 0 || m.static(a) === 0 || m.static(b) === 0) continue;
      if (m.static(m.sub(a, b)) !== 0) {
        if (m.lt(a, b)) return -1;
        if (m.lt(b, a)) return 1;
      }
      if (m.lt(shape[d1] as Dim, shape[d0] as Dim)) return 1;
    }
    return 0;
  };
  for (let i = 1; i < order.length; i++) {
    let at = i;
    for (let j = i - 1; j >= 0; j--) {
      const c = compare(order[j] as number, order[at] as number);
      if (c > 0) {
        [order[j], order[at]] = [order[at] as number, order[j] as number];
        at = j;
      } else if (c < 0) break;
    }
  }
  return order;
}

function isTensorMeta(x: unknown): x is TensorMeta {
  return typeof x === "object" && x !== null && "shape" in x && "stride" in x;
}

/** The metas of an operator's results for arguments in schema order. */
function runMeta(
  m: GraphMetaBuilder,
  op: string,
  args: readonly ArgValue<TensorMeta>[],
  kwargs: Readonly<Record<string, ArgValue<TensorMeta>>>,
): TensorMeta | readonly (TensorMeta | null)[] {
  const record = mustLookup(op);
  const schema = parseSchema(record.schema);
  const values = new Map<string, ArgValue<TensorMeta>>();
  for (const [i, p] of schema.parameters.entries()) {
    const v = i < args.length ? args[i] : kwargs[p.name];
    if (v !== undefined) values.set(p.name, v);
  }
  return m.run(record, { schema, values });
}
