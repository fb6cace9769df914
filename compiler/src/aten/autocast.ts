// Which operators torch.autocast casts the arguments of, and to what: the lists of PyTorch's CUDA autocast key. In: an
// operator's packet ("linear") and the region's dtype. Out: the dtype that its floating arguments take.
import type { DType } from "./types";

const LOW_PRECISION = new Set(
  (
    "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution _convolution prelu addmm addmv addr matmul " +
    "einsum mm mv linear linalg_vecdot linalg_matrix_norm addbmm baddbmm bmm chain_matmul linalg_multi_dot scaled_dot_product_attention"
  ).split(" "),
);
const FULL_PRECISION = new Set(
  (
    "acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow softplus layer_norm native_layer_norm group_norm " +
    "norm nuclear_norm cosine_similarity poisson_nll_loss cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss kl_div l1_loss " +
    "smooth_l1_loss huber_loss mse_loss margin_ranking_loss multilabel_margin_loss soft_margin_loss triplet_margin_loss multi_margin_loss " +
    "binary_cross_entropy_with_logits dist pdist cdist renorm logsumexp prod cumprod cumsum softmax log_softmax sum cross_entropy rms_norm " +
    "linalg_vector_norm upsample_nearest2d upsample_bilinear2d"
  ).split(" "),
);
const WIDEST = new Set(
  "addcdiv addcmul atan2 bilinear cross dot grid_sample index_put tensordot scatter_add".split(" "),
);

/** undefined: the operator runs in the dtypes it is given; `anyFloat32`: some tensor argument is float32 */
export function autocastTarget(packet: string, low: DType, anyFloat32: boolean): DType | undefined {
  if (LOW_PRECISION.has(packet)) return low;
  if (FULL_PRECISION.has(packet)) return "float32";
  if (!WIDEST.has(packet)) return undefined;
  return anyFloat32 ? "float32" : low;
}
