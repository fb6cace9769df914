// Names of the torch package: its modules, functions that the operator table lacks, and calls that do nothing here.

import { PRIVATE_FUNCTIONAL } from "./private_names";

/** calls that set something FuseLens does not follow, or ask about it: they do nothing here */
export const HARMLESS =
  /^(manual_seed|seed|set_num_threads|set_printoptions|set_default_tensor_type|set_warn_always|use_deterministic_algorithms|set_num_interop_threads|_assert_async|_assert_scalar|save|set_rng_state|_set_deterministic_algorithms|set_deterministic_debug_mode|clear_autocast_cache|set_autocast_\w+|autocast_(in|de)crement_nesting|_check|_check_is_size|_check_value|_check_index|_check_type)$/;

/** functions of torch.nn.functional that are Python over others */
export const PYTHON_FUNCTIONAL: ReadonlySet<string> = new Set([
  "triplet_margin_with_distance_loss",
  "_Reduction",
  ...PRIVATE_FUNCTIONAL,
]);

export const SUBMODULES = new Set(
  (
    "nn nn.functional nn.init nn.parameter nn.modules nn.parallel nn.utils nn.utils.rnn nn.utils.parametrizations " +
    "nn.utils.parametrize nn.utils.weight_norm nn.utils.spectral_norm nn.parallel.distributed nn.parallel.data_parallel " +
    "nn.parallel._functions nn.parallel.scatter_gather nn.parallel.replicate nn.parallel.parallel_apply _utils _six serialization " +
    "nn.utils.fusion nn.utils.clip_grad nn.attention nn.attention.flex_attention nn.attention.bias nn.intrinsic " +
    "nn.quantized _dynamo _dynamo.config _dynamo.utils _dynamo.testing _inductor _inductor.config _inductor.utils " +
    "_functorch _functorch.config _logging compiler cuda cuda.amp cuda.nvtx cuda.graphs amp amp.autocast_mode " +
    "autograd autograd.profiler autograd.function autograd.functional autograd.variable optim optim.optimizer optim.lr_scheduler " +
    "utils utils.checkpoint utils.data utils.data.dataset utils.data.dataloader utils.data.sampler " +
    "utils.data.distributed utils.model_zoo utils._pytree utils.cpp_extension utils.benchmark utils.tensorboard " +
    "utils._triton linalg special fft ops library jit distributed distributed.nn distributed.nn.functional " +
    "distributed._functional_collectives distributed.tensor distributed.fsdp profiler backends backends.cuda " +
    "backends.cuda.matmul backends.cudnn accelerator backends.mps backends.mkldnn backends.quantized mps xpu mtia " +
    "_higher_order_ops types version fx fx.experimental onnx export distributions random testing functional " +
    "sparse nested func hub _prims _prims_common _decomp _subclasses _guards ao ao.quantization quantization " +
    "masked overrides package storage multiprocessing cpu _library torch_version"
  )
    .split(" ")
    .map(n => `torch.${n}`)
    .concat(
      "activation batchnorm container conv dropout linear loss module normalization padding pooling rnn sparse transformer upsampling utils instancenorm"
        .split(" ")
        .map(n => `torch.nn.modules.${n}`),
    ),
);

export const OTHER_FUNCTIONS = new Set(
  (
    "polar complex view_as_complex view_as_real stft istft median mode kthvalue histc unique unique_consecutive cummax " +
    "cummin logcumsumexp svd qr lu cholesky inverse pinverse det logdet matrix_exp matrix_power randperm multinomial " +
    "bernoulli normal poisson _standard_gamma _sample_dirichlet binomial rnn_tanh_cell rnn_relu_cell lstm_cell gru_cell cdist nanmedian quantile nanquantile corrcoef " +
    "cov renorm conj angle real imag sgn meshgrid cartesian_prod combinations tril_indices triu_indices dropout " +
    "feature_dropout alpha_dropout fused_moving_avg_obs_fake_quant quantize_per_tensor fake_quantize_per_tensor_affine " +
    "fake_quantize_per_channel_affine _scaled_mm _int_mm _grouped_mm _scaled_grouped_mm _weight_int8pack_mm " +
    "_weight_int4pack_mm hash_tensor narrow_copy argwhere nonzero masked_select bincount histogram diff gradient trapezoid " +
    "cumulative_trapezoid searchsorted bucketize scatter_reduce frombuffer sparse_coo_tensor sparse_csr_tensor " +
    "sparse_csc_tensor sparse_bsr_tensor sparse_bsc_tensor sparse_compressed_tensor nonzero_static ctc_loss igamma igammac " +
    "unravel_index vander rrelu pdist segment_reduce chain_matmul conv_tbc embedding_renorm_ geqrf orgqr ormqr lu_solve " +
    "lu_unpack triangular_solve svd_lowrank pca_lowrank lobpcg frobenius_norm nuclear_norm native_norm native_channel_shuffle " +
    "histogramdd empty_permuted empty_quantized conj_physical batch_norm_stats batch_norm_elemt batch_norm_backward_elemt " +
    "batch_norm_backward_reduce batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_update_stats " +
    "cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution cudnn_convolution_add_relu cudnn_convolution_relu " +
    "cudnn_convolution_transpose cudnn_grid_sampler choose_qparams_optimized dequantize int_repr quantize_per_channel " +
    "quantize_per_tensor_dynamic quantized_batch_norm quantized_gru quantized_gru_cell quantized_lstm quantized_lstm_cell " +
    "quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell quantized_rnn_tanh_cell " +
    "smm hspmm hsmm saddmm sspaddmm dsmm unsafe_chunk unsafe_split unsafe_split_with_sizes split_copy values_copy " +
    "indices_copy detach_copy as_strided_copy view_as_real_copy view_as_complex_copy from_dlpack from_file"
  ).split(" "),
);

/** functions that are what the method of their first argument is */
export const METHOD_FUNCTIONS = new Set(
  "is_conj is_neg is_signed is_nonzero is_inference is_same_size is_distributed get_device".split(" "),
);
