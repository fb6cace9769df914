// Attention layers: the masks that they hand on, and the order in which they read what becomes an input.
import { expect, test } from "vitest";
import { defaultSessionOptions, Session } from "../../../index";

function run(text: string): { readonly preGrad: string; readonly code: string } {
  const artifacts = new Set(["pre_grad_graphs" as const]);
  const options = { ...defaultSessionOptions(), preset: "torch-2.11" as const, target: "h200", artifacts };
  const session = new Session(() => undefined, options);
  session.update("/m.py", text);
  const program = session.run("/m.py");
  const lines = program.events.flatMap(e => (e.kind === "log" ? [e.record.message] : []));
  return { preGrad: lines.join("\n"), code: program.compilations.map(c => c.outputCode.inductor).join("\n") };
}

const head = `import torch
import torch.nn as nn

`;

test("a boolean mask becomes one of numbers before attention, under functional.py's name", () => {
  const { preGrad, code } = run(`${head}
attn = nn.MultiheadAttention(64, 4).cuda().eval()

@torch.compile
def f(x, m):
    return attn(x, x, x, attn_mask=m)

with torch.no_grad():
    f(torch.randn(21, 3, 64, device="cuda"), torch.zeros(21, 21, dtype=torch.bool, device="cuda"))
`);
  expect(preGrad).toMatch(/L_m_: .*L_x_: .*in_proj_bias_: .*in_proj_weight_: /);
  expect(preGrad).toContain('mask: "f32[21, 21][21, 1]cuda:0" = zeros_like.masked_fill_(l_m_, -inf)');
  expect(preGrad).toContain("in _canonical_mask, code: mask = torch.zeros_like(mask, dtype=target_type).masked_fill_(");
  // the mask is one for all heads, and the product gets it as one for each
  expect(code).toMatch(/extern_kernels\.baddbmm\(reinterpret_tensor\(buf\d+, \(12, 21, 21\), \(0, 21, 1\), 0\)/);
}, 120_000);

test("a stack of encoder layers makes the mask once", () => {
  const { preGrad, code } = run(`${head}
enc = torch.compile(nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128), 2).cuda().eval())
with torch.no_grad():
    enc(torch.randn(21, 3, 64, device="cuda"), src_key_padding_mask=torch.zeros(3, 21, dtype=torch.bool, device="cuda"))
`);
  expect(preGrad.match(/masked_fill_\(/g)).toHaveLength(2); // its call, and the line of functional.py
  // rows of a mask that is the same for all queries are written out: a row of 21 is no multiple of 8
  expect(code).toContain("empty_strided_cuda((3, 4, 21, 21), (2016, 504, 24, 1), torch.float32)");
}, 120_000);
