// What torch.autocast makes of a call: the lists of PyTorch's CUDA autocast key. In: a bound call and the region's dtype.
// Out: the call with its floating arguments cast, or with the dtype of its result set. A composition's own calls are asked
// about one by one, as the dispatcher does; what is behind a call that is on a list is not.
import type { Bound } from "./bind";
import { isFloatDType } from "./ops/helpers/dtypes";
import { packetOf } from "./registry";
import { type ArgValue, type DType, DTypeArg, type OpRecord, type TensorMeta } from "./types";

const LOW_PRECISION = new Set(
  (
    "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution _convolution prelu addmm addmv addr matmul " +
    "einsum mm mv linear linalg_vecdot addbmm baddbmm bmm chain_matmul linalg_multi_dot scaled_dot_product_attention " +
    "lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell"
  ).split(" "),
);
const FULL_PRECISION = new Set(
  (
    "acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow softplus layer_norm native_layer_norm group_norm " +
    "nuclear_norm cosine_similarity poisson_nll_loss cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss kl_div l1_loss " +
    "smooth_l1_loss huber_loss mse_loss margin_ranking_loss multilabel_margin_loss soft_margin_loss triplet_margin_loss multi_margin_loss " +
    "binary_cross_entropy_with_logits dist pdist cdist renorm logsumexp frobenius_norm " +
    "upsample_nearest1d _upsample_nearest_exact1d upsample_nearest2d _upsample_nearest_exact2d upsample_nearest3d " +
    "_upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d _upsample_bilinear2d_aa upsample_trilinear3d " +
    "upsample_bicubic2d _upsample_bicubic2d_aa"
  ).split(" "),
);
/** their result is float32 where the call does not say */
const FULL_RESULT = new Set(
  "prod cumprod cumsum softmax log_softmax sum linalg_vector_norm linalg_matrix_norm".split(" "),
);
const WIDEST = new Set(
  "addcdiv addcmul atan2 bilinear cross dot vdot grid_sampler index_put tensordot scatter_add".split(" "),
);

/** What a stage's tensors are, and how one is cast there. */
export interface CastHost<T> {
  /** the region's */
  readonly device: string;
  isTensor(x: unknown): x is T;
  meta(t: T): TensorMeta;
  cast(t: T, dtype: DType): T;
}

/** the dtype that an operator's floating arguments take; undefined: they stay as they are */
function targetOf(packet: string, low: DType, meetsFloat32: () => boolean): DType | undefined {
  if (LOW_PRECISION.has(packet)) return low;
  if (FULL_PRECISION.has(packet) || FULL_RESULT.has(packet)) return "float32";
  if (!WIDEST.has(packet)) return undefined;
  return meetsFloat32() ? "float32" : low;
}

/** The call inside a region whose low precision is `low`; undefined: the operator is on no list. */
export function autocastCall<T>(
  record: OpRecord,
  bound: Bound<T>,
  low: DType,
  host: CastHost<T>,
): Bound<T> | undefined {
  const packet = packetOf(record.name).split(".").pop() ?? "";
  const castable = ({ dtype, device }: TensorMeta): boolean =>
    isFloatDType(dtype) && dtype !== "float64" && device.type === host.device;
  const tensors = (v: ArgValue<T>): T[] =>
    host.isTensor(v) ? [v] : Array.isArray(v) ? (v as readonly ArgValue<T>[]).flatMap(tensors) : [];
  if (FULL_RESULT.has(packet)) {
    const first = tensors(bound.values.get(bound.schema.parameters[0]?.name ?? "") ?? null)[0];
    if (first === undefined || !castable(host.meta(first)) || (bound.values.get("dtype") ?? null) !== null)
      return bound;
    if (bound.schema.parameters.some(p => p.name === "dtype"))
      return { ...bound, values: new Map(bound.values).set("dtype", new DTypeArg("float32")) };
  }
  const meetsFloat32 = (): boolean =>
    [...bound.values.values()].flatMap(tensors).some(t => host.meta(t).dtype === "float32");
  const target = targetOf(packet, low, meetsFloat32);
  if (target === undefined) return undefined;
  const cast = (v: ArgValue<T>): ArgValue<T> => {
    if (host.isTensor(v)) {
      const meta = host.meta(v);
      return castable(meta) && meta.dtype !== target ? host.cast(v, target) : v;
    }
    return Array.isArray(v) ? (v as readonly ArgValue<T>[]).map(cast) : v;
  };
  // The last argument is cast first: so C++ evaluates the arguments of the redispatched call.
  const names = bound.schema.parameters.map(p => p.name).filter(n => bound.values.has(n));
  const values = new Map<string, ArgValue<T>>();
  for (const name of names.reverse()) values.set(name, cast(bound.values.get(name) as ArgValue<T>));
  return { ...bound, values: new Map([...bound.values.keys()].map(n => [n, values.get(n) as ArgValue<T>])) };
}
