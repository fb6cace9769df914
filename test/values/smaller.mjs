// Shapes for verification. Fused and unfused kernels are compared with each other, not with a record, so the
// programs that would take most of the time run with fewer rows: a batch is divided, nothing else. In: a program's name
// and source. Out: the source to verify. Throws if a replacement does not apply, so that the table follows the programs.
const SMALLER = {
  block_encoder_post_norm: [["randn(16, 256, 768", "randn(1, 256, 768"]],
  block_llama_gqa: [["randn(2, 1024, cfg.dim", "randn(1, 256, cfg.dim"]],
  block_moe_top2_dense: [["randn(4096, 512", "randn(512, 512"]],
  block_resnet_basic_eval: [["randn(16, 64, 56, 56", "randn(2, 64, 56, 56"]],
  block_rotary_sdpa: [["B, H, S, D = 4, 16, 1024, 64", "B, H, S, D = 2, 4, 512, 64"]],
  block_swiglu_mlp: [["randn(4, 2048, cfg.dim", "randn(1, 256, cfg.dim"]],
  block_tiny_gpt_tied: [
    ["idx = torch.randint(0, 8192, (8,", "idx = torch.randint(0, 8192, (2,"],
    ["targets = torch.randint(0, 8192, (8,", "targets = torch.randint(0, 8192, (2,"],
  ],
  index_causal_mask_fill: [["randn(8, 16, 1024", "randn(1, 16, 1024"]],
  matmul_addmm_residual_norm: [
    ["randn(8192, 1024", "randn(512, 1024"],
    ["randn(8192, 2048", "randn(512, 2048"],
  ],
  matmul_bmm_prologue_scale: [
    ["q = torch.randn(64, 1024", "q = torch.randn(8, 1024"],
    ["k = torch.randn(64, 1024", "k = torch.randn(8, 1024"],
  ],
  matmul_mlp_gelu: [["randn(8192, 1024", "randn(512, 1024"]],
  matmul_mm_bias_relu: [["x = torch.randn(4096, 2048", "x = torch.randn(256, 2048"]],
  train_cross_entropy_head: [
    ["randn(4096, 512", "randn(256, 512"],
    ["(4096,)", "(256,)"],
  ],
  train_linear_relu_mse: [
    ["x = torch.randn(4096, 1024", "x = torch.randn(512, 1024"],
    ["target = torch.randn(4096, 2048", "target = torch.randn(512, 2048"],
  ],
};

export const smallerPrograms = Object.keys(SMALLER);

export function smaller(name, source) {
  return (SMALLER[name] ?? []).reduce((text, [from, to]) => {
    if (text.split(from).length !== 2) throw new Error(`${name}: '${from}' does not stand there once`);
    return text.replace(from, to);
  }, source);
}
