// Rewrites of captured graphs before autograd, and what random numbers become after it.
import { expect, test } from "vitest";
import { defaultSessionOptions, Session } from "../index";

function run(body: string): { readonly graph: string; readonly code: string; readonly at: readonly number[] } {
  const artifacts = new Set(["aot_graphs" as const]);
  const options = { ...defaultSessionOptions(), preset: "torch-2.11" as const, target: "h200", artifacts };
  const session = new Session(() => undefined, options);
  session.update("/m.py", `import torch\nimport torch.nn.functional as F\n\n\n@torch.compile\n${body}`);
  const program = session.run("/m.py");
  const graph = program.events.flatMap(e => (e.kind === "log" ? [e.record.message] : [])).join("\n");
  const code = program.compilations.map(c => c.outputCode.inductor).join("\n");
  return { graph, code, at: program.report.graphs.flatMap(g => g.kernels.flatMap(k => k.at)) };
}

const inputs = `torch.randn(8, 16, device="cuda"), torch.randn(8, 16, device="cuda")`;

test("the relu of a concatenation is the concatenation of relus, views between them or not", () => {
  const { graph, code, at } = run(
    `def f(x, y):\n    return torch.cat([x, y], -1).view(4, -1).relu()\n\n\nf(${inputs})\n`,
  );
  expect(graph.match(/aten\.relu\.default\(arg/g)).toHaveLength(2);
  expect(graph).toMatch(/cat: .* = torch\.ops\.aten\.cat\.default\(\[relu, relu_1\], -1\)/);
  expect(graph).toContain("# No stacktrace found for following nodes");
  expect(code).toContain("Source Nodes: [relu_1, relu_2, cat_1]");
  expect(at).toContain(7); // reports know where it came from
});

test("it stays where it is if the concatenation has other readers, and other functions stay anyway", () => {
  const two = run(`def f(x, y):\n    z = torch.cat([x, y], -1)\n    return z.relu() + z\n\n\nf(${inputs})\n`);
  expect(two.graph).toMatch(/relu: .*aten\.relu\.default\(cat\)/);
  const gelu = run(`def f(x, y):\n    return F.gelu(torch.cat([x, y], -1))\n\n\nf(${inputs})\n`);
  expect(gelu.graph).toContain("torch.ops.aten.cat.default([arg0_1, arg1_1], -1)");
});

test("a seed is looked up where the number is drawn, and the second one's place is a constant", () => {
  const { code } = run(`def f(x, y):\n    return torch.rand_like(x) * y, torch.rand_like(y).sum()\n\n\nf(${inputs})\n`);
  expect(code).toContain("#   rand_like => inductor_lookup_seed_default, inductor_random_default");
  expect(code).toMatch(/'constants': \{[^}]*'load_seed_offset': 1/);
});
