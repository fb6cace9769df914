// What a launch needs before it: sizes by name, constants and values on its device, arguments that are compiled in.
import { expect, test } from "vitest";
import { defaultSessionOptions, type PresetName, Session } from "../../index";

/** the output code of every graph that a program compiles */
function code(text: string, preset: PresetName = "torch-2.11"): string {
  const artifacts = new Set(["output_code" as const]);
  const session = new Session(() => undefined, { ...defaultSessionOptions(), preset, target: "h200", artifacts });
  session.update("/m.py", `import torch\nimport torch.nn.functional as F\n\n${text}`);
  const run = session.run("/m.py");
  expect(run.diagnostics.filter(d => d.severity === "error")).toEqual([]);
  return run.events.flatMap(e => (e.kind === "log" ? [e.record.message] : [])).join("\n");
}

test("sizes that kernels have names for are worked out once, before the first launch that takes them", () => {
  const text = code(`
@torch.compile(dynamic=True)
def f(x, w, b):
    y = F.conv2d(x, w, b, padding=1)
    return F.relu(y) + b[:, None, None]

f(torch.randn(4, 3, 24, 32, device="cuda"), torch.randn(8, 3, 3, 3, device="cuda"), torch.randn(8, device="cuda"))
`);
  const used = [...text.matchAll(/\bps\d+(?=,)/g)].map(m => m[0]);
  expect(used.length).toBeGreaterThan(0);
  for (const name of new Set(used)) {
    const defined = [...text.matchAll(new RegExp(`^ +${name} = `, "gm"))];
    expect(defined.length, name).toBe(1);
    expect(defined[0]?.index, name).toBeLessThan(text.search(new RegExp(`\\.run\\(.*\\b${name},`)));
  }
});

const WINDOW = `
@torch.compile
def f(x):
    gauss = torch.tensor([0.1, 0.2, 0.4, 0.8, 1.0, 0.8, 0.4, 0.2, 0.1])
    window = (gauss / gauss.sum())[None].cuda()
    return x * window, RESULT

f(torch.randn(4, 9, device="cuda"))
`;

test("a constant of the CPU, and what is computed of it on the way to the GPU, lie where kernels read them", () => {
  const text = code(WINDOW.replace("RESULT", "window + 1"));
  expect(text).toMatch(/\.run\(_tensor_constant0_cuda0, /);
  expect(text).not.toContain("= empty_strided_cpu(");
});

test("what the caller gets on the CPU stays there", () => {
  expect(code(WINDOW.replace("RESULT", "gauss / gauss.sum()"))).toContain("= empty_strided_cpu(");
});

test("launches of several bodies have the numbers that they are compiled for among their arguments", () => {
  const text = code(
    `
@torch.compile
def f(a, b):
    return F.dropout(a, 0.1), F.dropout(b, 0.1)

f(torch.randn(64, 64, device="cuda"), torch.randn(64, 64, device="cuda"))
`,
    "fuselens",
  );
  expect(text).toContain("'load_seed_offset1': 'constexpr'");
  expect(text).toMatch(/\.run\(.*, 0, 1, stream=/);
});
