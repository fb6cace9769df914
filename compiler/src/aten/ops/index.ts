// The operator table: every family file exports `records: OpRecord[]` and is listed here once.
//
// Conventions of a record:
// - `name` is the full overload name ("aten.add.Tensor", "aten.relu.default", "prims.convert_element_type.default").
// - Within a spelling of `python`, PyTorch tries overloads in the order of this list.
// - A Python function whose parameters differ from ATen's (F.softmax has _stacklevel, F.dropout has training) is a record
//   of its own, named by its spelling ("torch.nn.functional.softmax.default"), with the Python parameters as its schema
//   and a `composite` that calls the ATen operator.
// - `composite` runs before autograd and functionalization see the operator; `decompose` below autograd, where Inductor's
//   table applies.

import type { OpRecord } from "../types";
import { records as activation } from "./activation";
import { records as activationBackward } from "./activation_backward";
import { records as activationGates } from "./activation_gates";
import { records as attention } from "./attention";
import { records as batchNorm } from "./batch_norm";
import { records as cat } from "./cat";
import { records as comparison } from "./comparison";
import { records as complex } from "./complex";
import { records as conv } from "./conv";
import { records as convert } from "./convert";
import { records as distance } from "./distance";
import { records as dropout } from "./dropout";
import { records as einsum } from "./einsum";
import { records as embeddingBag } from "./embedding_bag";
import { records as factory } from "./factory";
import { records as fft } from "./fft";
import { records as foreach } from "./foreach";
import { records as grid } from "./grid";
import { records as groupNorm } from "./group_norm";
import { records as indexing } from "./indexing";
import { records as indexingPut } from "./indexing_put";
import { records as layerNorm } from "./layer_norm";
import { records as lerp } from "./lerp";
import { records as linalg } from "./linalg";
import { records as linalgFactor } from "./linalg_factor";
import { records as linalgNorm } from "./linalg_norm";
import { records as linalgSolve } from "./linalg_solve";
import { records as literals } from "./literals";
import { records as localResponseNorm } from "./local_response_norm";
import { records as loss } from "./loss";
import { records as lossClass } from "./loss_class";
import { records as lossDistance } from "./loss_distance";
import { records as lossEntropy } from "./loss_entropy";
import { records as lossMargin } from "./loss_margin";
import { records as masks } from "./masks";
import { records as matmul } from "./matmul";
import { records as matmulComposed } from "./matmul_composed";
import { records as matmulVector } from "./matmul_vector";
import { records as multiheadAttention } from "./multihead_attention";
import { records as mutation } from "./mutation";
import { records as numericGradient } from "./numeric_gradient";
import { records as pad } from "./pad";
import { records as pointwiseBinary } from "./pointwise_binary";
import { records as pointwisePairs } from "./pointwise_pairs";
import { records as pointwiseSign } from "./pointwise_sign";
import { records as pointwiseUnary } from "./pointwise_unary";
import { records as pool } from "./pool";
import { records as poolAdaptive } from "./pool_adaptive";
import { records as poolBackward } from "./pool_backward";
import { records as random } from "./random";
import { records as randomFill } from "./random_fill";
import { records as randomSeeds } from "./random_seeds";
import { records as ranges } from "./ranges";
import { records as rearrange } from "./rearrange";
import { records as reduction } from "./reduction";
import { records as repeat } from "./repeat";
import { records as rmsNorm } from "./rms_norm";
import { records as rnnCells } from "./rnn_cells";
import { records as rnnLayers } from "./rnn_layers";
import { records as rrelu } from "./rrelu";
import { records as scanSort } from "./scan_sort";
import { records as scatter } from "./scatter";
import { records as searches } from "./searches";
import { records as selection } from "./selection";
import { records as softmax } from "./softmax";
import { records as specialFunctions } from "./special_functions";
import { records as split } from "./split";
import { records as statistics } from "./statistics";
import { records as stft } from "./stft";
import { records as triangles } from "./triangles";
import { records as unfold } from "./unfold";
import { records as upsample } from "./upsample";
import { records as view } from "./view";
import { records as viewCopy } from "./view_copy";
import { records as viewPermute } from "./view_permute";
import { records as viewScatter } from "./view_scatter";
import { records as viewSelect } from "./view_select";
import { records as viewSqueeze } from "./view_squeeze";
import { records as viewWindow } from "./view_window";
import { records as weightNorm } from "./weight_norm";
import { records as windowFunctions } from "./window_functions";
import { records as xlogy } from "./xlogy";

export const families: readonly (readonly OpRecord[])[] = [
  pointwiseUnary,
  specialFunctions,
  pointwiseSign,
  pointwiseBinary,
  selection,
  lerp,
  pointwisePairs,
  comparison,
  activation,
  activationGates,
  activationBackward,
  convert,
  reduction,
  statistics,
  softmax,
  view,
  viewPermute,
  viewSqueeze,
  viewSelect,
  split,
  viewWindow,
  indexing,
  masks,
  searches,
  indexingPut,
  scatter,
  viewScatter,
  factory,
  ranges,
  literals,
  triangles,
  windowFunctions,
  cat,
  pad,
  repeat,
  matmul,
  matmulVector,
  matmulComposed,
  einsum,
  mutation,
  foreach,
  conv,
  attention,
  linalgNorm,
  linalgSolve,
  linalgFactor,
  rnnCells,
  rnnLayers,
  weightNorm,
  linalg,
  fft,
  stft,
  numericGradient,
  viewCopy,
  multiheadAttention,
  embeddingBag,
  grid,
  unfold,
  upsample,
  poolBackward,
  poolAdaptive,
  pool,
  rearrange,
  random,
  randomFill,
  randomSeeds,
  dropout,
  rrelu,
  layerNorm,
  rmsNorm,
  groupNorm,
  localResponseNorm,
  batchNorm,
  loss,
  lossEntropy,
  lossDistance,
  lossClass,
  lossMargin,
  scanSort,
  complex,
  distance,
  xlogy,
];
