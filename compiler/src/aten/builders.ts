// What a record's rules are written against: a builder for each stage that runs them, over handles that are opaque to the
// record.
import type { Args, ArgValue, Device, Dim, DimMath, DType, MemoryFormat, PyFloat, Scalar, TensorMeta } from "./values";

export type PromotionKind =
  | "default" // ops.add: common dtype of the operands
  | "int_to_float" // exp, div: integers become the default float
  | "always_bool" // comparisons
  | "complex_to_float" // abs
  | "bool_to_long"
  | "no_opmath";

/**
 * What a meta rule may use. It is also a GraphBuilder whose traced tensors are metas (`call` runs the meta rule of the
 * operator called), so an operator that is only a composition of others takes its meta rule from `composite`.
 */
export interface MetaBuilder extends GraphBuilder<TensorMeta> {
  /** a new tensor's meta; contiguous unless stride is given; requiresGrad is worked out by the caller of the rule */
  tensor(
    shape: readonly (Dim | number)[],
    like: { dtype: DType; device: Device },
    stride?: readonly (Dim | number)[],
  ): TensorMeta;
  contiguous(shape: readonly (Dim | number)[]): Dim[];
  channelsLast(shape: readonly Dim[]): Dim[];
  broadcast(...shapes: (readonly Dim[])[]): Dim[];
  /** shape by broadcast, strides as TensorIterator gives them, device from the operands */
  elementwise(dtype: DType, ...operands: TensorMeta[]): TensorMeta;
  /** a fresh data-dependent size (nonzero, unique) */
  unbacked(): Dim;
}

/** What a decomposition or a derivative may use; T is a traced tensor. */
export interface GraphBuilder<T> extends DimMath {
  meta(t: T): TensorMeta;
  /**
   * Calls an operator by full name ("aten.mul.Tensor"), args in schema order, kwargs as PyTorch would print them. As the
   * dispatcher does, the implementer drops trailing positional arguments and keywords that equal the schema's defaults.
   */
  call(op: string, args: readonly ArgValue<T>[], kwargs?: Readonly<Record<string, ArgValue<T>>>): T;
  /** same for operators with several results */
  callMany(op: string, args: readonly ArgValue<T>[], kwargs?: Readonly<Record<string, ArgValue<T>>>): T[];
  isTensor(x: unknown): x is T;
  /** a size that is traced before the next call; others are where they are first used */
  computeNow?(size: Dim): void;
  /** result dtype of a promotion over tensors and Python scalars (a Scalar only decides by category) */
  promote(kind: PromotionKind, ...operands: (TensorMeta | Scalar)[]): DType;
  /** wraps a negative dim; OpError "Dimension out of range (expected to be in range of [-2, 1], but got 3)" */
  wrapDim(d: number, rank: number): number;
  isContiguous(t: T, format?: MemoryFormat): boolean;
  /**
   * A tensor written out in the source (torch.tensor([..]), the list of x[[0, 2]], the number of x[i] = 1.0): a get_attr
   * node `_tensor_constantN`. `values` are row-major.
   */
  literal(spec: {
    readonly values: readonly Scalar[];
    readonly shape: readonly number[];
    readonly dtype: DType;
    readonly device: Device;
  }): T;
  training(): boolean; // grad mode while tracing
  /** torch.get_default_dtype() / torch.get_default_device() where the call stands */
  defaultDType(): DType;
  defaultDevice(): Device;
  /** torch._inductor.config.NAME or a named behaviour of the preset; undefined: nothing said, take torch 2.11's default */
  config(name: string): unknown;
  fail(message: string, pythonType?: string): never;
}

export type Result<T> = T | readonly (T | null)[];

export interface DerivativeContext<T> {
  readonly args: Args<T>;
  /** gradient of result i, null when undefined */
  grad(i?: number): T;
  optGrad(i: number): T | null;
  /** saved result i (leaves an alias pair in the joint graph, as autograd's save and unpack do) */
  result(i?: number): T;
  /** whether the gradient of this argument is wanted */
  needs(name: string): boolean;
}

/** Either one formula per differentiable argument (evaluated in alphabetical order of argument names), or a joint one. */
export type Derivative =
  | {
      readonly kind: "each";
      readonly grads: Readonly<
        Record<string, <T>(b: GraphBuilder<T>, c: DerivativeContext<T>) => T | readonly (T | null)[] | null>
      >;
    }
  | {
      readonly kind: "joint";
      readonly grads: <T>(
        b: GraphBuilder<T>,
        c: DerivativeContext<T>,
      ) => Readonly<Record<string, T | readonly (T | null)[] | null>>;
      readonly of: readonly string[];
    }
  | { readonly kind: "none" }; // not differentiable (integers, comparisons)

export type ReductionType =
  | "sum"
  | "prod"
  | "max"
  | "min"
  | "any"
  | "xor_sum"
  | "argmax"
  | "argmin"
  | "welford_reduce"
  | "welford_combine"
  | "online_softmax_reduce"
  | "dot";

/** The virtualised operations of a loop body (torch._inductor.ops_handler). V is a handler's value. */
export interface Ops<V> {
  /** a PyFloat and a number of the same value count as two operations, as 1.0 and 1 do in PyTorch */
  constant(value: number | boolean | PyFloat, dtype: DType): V;
  indexExpr(e: Dim, dtype: DType): V;
  load(buffer: string, index: Dim): V;
  toDtype(x: V, dtype: DType, srcDtype?: DType): V;
  toDtypeBitcast(x: V, dtype: DType, srcDtype: DType): V;
  /** turns a loaded value into an index; wraps negatives and asserts bounds unless told not to */
  indirectIndexing(x: V, size: Dim, opts?: { check?: boolean; wrapNeg?: boolean }): Dim;
  /** value of body where mask holds, other elsewhere; body runs under the mask */
  masked(mask: V, body: () => V, other: number | boolean | PyFloat): V;
  /** any pointwise operation by its Inductor name: add, mul, exp, where, lt, logical_and, ... */
  op(name: OpName, ...args: V[]): V;
  loadSeed(buffer: string, offset: number): V;
  random(kind: "rand" | "randn", seed: V, offset: V): V;
  randint64(seed: V, offset: V, low: V, high: V): V;
}

export type OpName =
  | "abs"
  | "acos"
  | "acosh"
  | "add"
  | "and_"
  | "asin"
  | "asinh"
  | "atan"
  | "atan2"
  | "atanh"
  | "bitwise_and"
  | "bitwise_left_shift"
  | "bitwise_not"
  | "bitwise_or"
  | "bitwise_right_shift"
  | "bitwise_xor"
  | "ceil"
  | "copysign"
  | "cos"
  | "cosh"
  | "digamma"
  | "eq"
  | "erf"
  | "erfc"
  | "erfcx"
  | "erfinv"
  | "exp"
  | "exp2"
  | "expm1"
  | "floor"
  | "floordiv"
  | "fma"
  | "fmod"
  | "frexp"
  | "ge"
  | "gt"
  | "hypot"
  | "i0"
  | "i1"
  | "isinf"
  | "isnan"
  | "ldexp"
  | "le"
  | "lgamma"
  | "log"
  | "log10"
  | "log1p"
  | "log2"
  | "logical_and"
  | "logical_not"
  | "logical_or"
  | "logical_xor"
  | "lt"
  | "maximum"
  | "minimum"
  | "mod"
  | "mul"
  | "ne"
  | "neg"
  | "nextafter"
  | "pow"
  | "reciprocal"
  | "relu"
  | "remainder"
  | "round"
  | "rsqrt"
  | "sigmoid"
  | "sign"
  | "signbit"
  | "sin"
  | "sinh"
  | "sqrt"
  | "square"
  | "sub"
  | "tan"
  | "tanh"
  | "truediv"
  | "trunc"
  | "truncdiv"
  | "where";

export type Loader = <V>(ops: Ops<V>, index: readonly Dim[]) => V;

/** What a lowering may use; B is a tensor box (a value that may or may not be in memory yet). */
export interface LoweringBuilder<B> extends DimMath {
  size(x: B): readonly Dim[];
  dtype(x: B): DType;
  device(x: B): Device;
  isBox(x: unknown): x is B;
  /** the FX value of the node being lowered */
  out(): TensorMeta | readonly (TensorMeta | null)[];
  /** torch._inductor.config.NAME or a named behaviour of the preset */
  config(name: string): unknown;
  wrapDim(d: number, rank: number): number;
  promote(kind: PromotionKind, ...operands: (TensorMeta | Scalar)[]): DType;

  // loops
  loader(x: B): Loader;
  pointwise(spec: { size: readonly Dim[]; dtype: DType; device: Device; body: Loader }): B;
  /**
   * the usual elementwise registration: promote (unless kind is null), broadcast, scalars become constants, apply. A Dim
   * among the operands is a symbolic int: it promotes as a Python int and becomes an index expression.
   */
  elementwise(
    op: OpName | (<V>(ops: Ops<V>, ...xs: V[]) => V),
    operands: readonly (B | Scalar | Dim)[],
    opts?: { promotion?: PromotionKind | null; dtype?: DType },
  ): B;
  constant(value: Scalar, dtype: DType, device: Device, size: readonly Dim[]): B;
  /** memory that nothing fills: an allocation with these strides, no kernel */
  empty(size: readonly Dim[], stride: readonly Dim[], dtype: DType, device: Device): B;
  /** the number that x is everywhere, if x is an unrealized constant (get_constant_value); else null */
  constantOf(x: B): Scalar | null;
  toDtype(x: B, dtype: DType, copy?: boolean): B;
  /** Reduction.create with unrolling and splitting; srcDtype is x's; dims empty = all; result dtype defaults to x's */
  reduce(x: B, type: ReductionType, dims: readonly number[], keepdim: boolean, dtype?: DType): B;
  /**
   * A reduction of a window around each element, as pooling has it: `body` gives the value at an index and a place in
   * the window. Windows of fewer elements than `unrollBelow` are written out; only a result that is not is put in memory.
   */
  reduceWindow(spec: {
    readonly input: B;
    readonly size: readonly Dim[];
    readonly window: readonly number[];
    readonly type: "sum" | "max" | "argmax";
    readonly dtype: DType;
    readonly unrollBelow?: number;
    readonly body: <V>(ops: Ops<V>, index: readonly Dim[], window: readonly Dim[]) => V;
  }): B;
  /** variance (and mean) by Welford or in two steps, as var_mean_helper_ chooses; returnMean false: the mean is not realized on its own */
  varMean(
    x: B,
    dims: readonly number[],
    correction: number,
    keepdim: boolean,
    returnMean?: boolean,
  ): { var: B; mean: B };
  onlineSoftmax(x: B, dim: number): { max: B; sum: B };
  scan(xs: readonly B[], dim: number, combine: <V>(ops: Ops<V>, a: V[], b: V[]) => V[]): B[] | null; // null: fall back
  sort(x: B, dim: number, opts: { stable: boolean; descending: boolean }): { values: B; indices: B } | null;

  // views: index maps, never a copy
  view(x: B, size: readonly (Dim | number)[]): B;
  permute(x: B, order: readonly number[]): B;
  expand(x: B, size: readonly (Dim | number)[]): B;
  squeeze(x: B, dim: number): B;
  unsqueeze(x: B, dim: number): B;
  slice(x: B, dim: number, start: Dim | number, end: Dim | number | bigint, step?: Dim | number, clamp?: boolean): B;
  select(x: B, dim: number, index: Dim | number): B;
  asStrided(x: B, size: readonly Dim[], stride: readonly Dim[], offset: Dim): B;
  viewDtype(x: B, dtype: DType): B;
  genericView(x: B, size: readonly Dim[], reindex: (index: readonly Dim[]) => Dim[]): B;
  /** ModularIndexing(base, divisor, modulus) = (base // divisor) % modulus, for indices that are never negative */
  modularIndexing(base: Dim, divisor: Dim | number, modulus: Dim | number): Dim;
  /** tells the value that `users` consumers (or copies of one consumer) will read it: it may be put in memory for that */
  markReuse(x: B, users: number): void;

  // memory
  /** the value on another device: nothing if it is there, a constant moves without a copy, else a DeviceCopy */
  toDevice(x: B, device: Device): B;
  /** whether computing x reads the buffer that target is (or will be) stored in, inlined loads included */
  reads(x: B, target: B): boolean;
  /** the FX target ("aten.randperm.default") of the extern kernel that x is the result or a view of, null for others */
  externTarget(x: B): string | null;
  /**
   * For each value its place among sorted boundaries (ops.bucketize: a binary search inside the loop; boundaries are
   * realized, so is the result). 1-d boundaries serve all values, else each row has its own. null: fall back to ATen.
   */
  bucketize(
    values: B,
    boundaries: B,
    opts: { readonly right: boolean; readonly dtype: DType; readonly sorter?: B | null },
  ): B | null;
  realize(x: B): B;
  /** an operand of a matrix product: in memory, and dense in one dim (realize_inputs of mm_args) */
  operand(x: B): B;
  /** an argument of the operator being lowered, in memory in the order of the strides that it was traced with */
  inTracedOrder(x: B): B;
  /** put in memory channels-last, if its layout is still open (require_channels_last) */
  channelsLast(x: B): B;
  /** x in memory with its channels together: copied where it lies otherwise (require_stride_order, channels_last_order) */
  requireChannelsLast(x: B): B;
  /** whether the convolution being lowered works channels-last (channels_last_conv) */
  convolvesChannelsLast(): boolean;
  /** whether formats are chosen anew in this graph (layout_opt), so that traced strides don't bind */
  choosesFormats(): boolean;
  realizeHint(x: B): void;
  clone(x: B): B;
  cat(xs: readonly B[], dim: number): B; // pointwise or ConcatKernel, as lowering.md §10 decides
  /**
   * x padded without a copy (inplace_constant_pad_nd): its rows already have room on the right, and the only user is a
   * matrix product. padding as constant_pad_nd has it; null: not possible.
   */
  inplacePad(x: B, padding: readonly Dim[], value: Scalar): B | null;
  copyInto(dst: B, src: B): B; // mutation
  scatter(spec: {
    target: B;
    size: readonly Dim[];
    index: <V>(ops: Ops<V>, index: readonly Dim[]) => readonly Dim[];
    value: Loader;
    mode: "store" | "atomic_add";
    reads: readonly B[];
  }): B;
  /** a kernel that Inductor calls, not writes. kind out: takes out=; alloc: allocates; fallback: torch.ops call */
  extern(spec: {
    kind: "out" | "alloc" | "fallback";
    kernel: string;
    op: string;
    inputs: readonly B[];
    args: readonly ArgValue<B>[];
    kwargs?: Readonly<Record<string, ArgValue<B>>>;
    layout?: "flexible" | "meta" | "contiguous";
    mutates?: readonly B[];
    strides?: "mm" | "contiguous" | "fx" | "channels_last" | "any";
  }): B;
  externMany(spec: {
    kernel: string;
    op: string;
    inputs: readonly B[];
    args: readonly ArgValue<B>[];
    kwargs?: Readonly<Record<string, ArgValue<B>>>;
    strides?: "contiguous" | "fx" | "any" | "sdpa";
  }): (B | null)[];
  foreach(members: readonly (() => B)[], inplace: boolean, targets?: readonly B[]): B[];
  seeds(count: number, device: Device): B;
  lookupSeed(seeds: B, index: number): B;
  /** the loader of a 0-d seed box, for ops.random */
  error(message: string): never;
}
