// numpy's scalars: what they hold, which dtype arithmetic with them has, and where they may stand. The expected texts are
// numpy 2's own.
import { describe, expect, it } from "vitest";
import { Session } from "../../session";
import { defaultSessionOptions } from "../../session_options";

function run(text: string) {
  const source = `import numpy as np\nimport torch\n${text}\n`;
  const program = new Session(() => source, defaultSessionOptions()).run("/m.py");
  expect(program.diagnostics.filter(d => d.severity !== "information").map(d => d.message)).toEqual([]);
  const printed = program.events.map(e => (e.kind === "print" ? e.text : "")).join("");
  return { printed: printed.trimEnd(), frames: program.compilations.length };
}

const printed = (...expressions: string[]): string => run(`print(${expressions.join(", ")})`).printed;

describe("numpy's scalars", () => {
  it("are rounded to their dtype, and Python's numbers once they leave it", () => {
    expect(printed("np.float32(0.1).item()", "np.float16(0.1).item()", "np.float32('3.5').item()")).toBe(
      "0.10000000149011612 0.0999755859375 3.5",
    );
    expect(printed("type(np.float32(3).item()) is float", "type(np.int64(3).tolist()) is int")).toBe("True True");
    expect(printed("np.float32(0.1)", "[np.float32(0.1)]", "f'{np.float32(0.1):.3f}'", "'%d' % np.int64(5)")).toBe(
      "0.1 [np.float32(0.1)] 0.100 5",
    );
    expect(printed("np.float32(1e10) * np.float32(1e30)", "(np.float32(1) / 3).item()")).toBe("inf 0.3333333432674408");
  });

  it("have a dtype that they can be cast from", () => {
    expect(printed("np.float32(3).dtype", "np.int64(3).dtype", "np.float32(3.7).astype(np.int64).item()")).toBe(
      "float32 int64 3",
    );
    expect(
      printed("np.float32(3.7).astype('int32').dtype", "np.float32(2).shape", "np.int64(2).reshape(1).shape"),
    ).toBe("int32 () (1,)");
    expect(printed("isinstance(np.float32(2), np.floating)", "isinstance(np.int64(2), np.integer)")).toBe("True True");
    expect(printed("np.issubdtype(np.float32, np.floating)", "np.issubdtype(np.zeros(3).dtype, np.integer)")).toBe(
      "True False",
    );
  });

  it.each([
    ["np.float32(3) + np.float32(4)", "float32"],
    ["np.float32(3) + 1.5", "float32"],
    ["2 * np.float32(3)", "float32"],
    ["np.float32(3) + np.float64(1.5)", "float64"],
    ["np.int32(3) + np.int64(1)", "int64"],
    ["np.int32(3) / np.int32(2)", "float64"],
    ["np.int32(3) * np.float32(2)", "float64"],
    ["np.int64(7) // 2", "int64"],
    ["-np.float32(3)", "float32"],
    ["np.zeros(3, dtype=np.float32) * np.float64(2)", "float64"],
    ["np.zeros(3, dtype=np.float32) * 2.0", "float32"],
    ["np.zeros(3, dtype=np.int64) + np.float32(1)", "float64"],
    ["np.zeros(3, dtype=np.int32) + np.zeros(3, dtype=np.float32)", "float64"],
    ["np.float32(2) * np.zeros(3)", "float64"],
    ["np.array([np.int32(2), np.int32(3)])", "int32"],
  ])("give results of numpy's dtype: %s", (expression, dtype) => {
    expect(printed(`(${expression}).dtype`)).toBe(dtype);
  });

  it.each([
    ["np.int64, np.float32", "float64"],
    ["np.int16, np.float16", "float32"],
    ["np.int8, np.uint8", "int16"],
    ["np.bool_, np.int8", "int8"],
    ["np.float32, 3", "float32"],
    ["np.float32(3), 3.0", "float32"],
    ["'float16', 'float32'", "float32"],
    ["np.zeros(3, dtype=np.float32), np.float64(2)", "float64"],
  ])("np.result_type(%s) is %s", (types, dtype) => {
    expect(printed(`np.result_type(${types})`)).toBe(dtype);
  });

  it("may be sizes, positions and keys, and give tensors their dtype", () => {
    expect(printed("torch.zeros(np.int64(3), np.int32(4)).view(-1, np.int64(2)).shape")).toBe("torch.Size([6, 2])");
    expect(printed("torch.nn.Linear(np.int64(3), np.int64(4)).weight.shape", "[1, 2][np.int64(1)]")).toBe(
      "torch.Size([4, 3]) 2",
    );
    expect(printed("list(range(np.int64(3)))", "{np.int64(5): 1}[5]", "[0] * np.int64(2)")).toBe("[0, 1, 2] 1 [0, 0]");
    expect(printed("torch.tensor(np.float64(2)).dtype", "torch.tensor([np.int32(2)]).dtype")).toBe(
      "torch.float64 torch.int32",
    );
    expect(printed("(torch.zeros(3) * np.float64(2)).dtype", "(np.float32(2) * torch.zeros(3)).dtype")).toBe(
      "torch.float32 torch.float32",
    );
  });

  it("are constants of compiled functions, and equal ones need no other compile", () => {
    const called = (k: string): number =>
      run(`
@torch.compile
def f(x, k):
    return x * k
for k in [0.5, 0.5, 2.0, 3.0]:
    f(torch.randn(8, device="cuda"), ${k})
`).frames;
    expect(called("np.float32(k)")).toBe(called("k"));
  });
});

it("keep their type through functions, and go on where math refuses", () => {
  const text = `
print(np.sqrt(np.float32(2)).dtype, np.log2(np.int64(8)).dtype, np.abs(np.float32(-2)).dtype)
print(np.exp(1000), np.log(0), np.log(-1.0), np.sqrt(-1), np.arctanh(1), np.sinh(-1000), np.log1p(-1))
print(np.float32(-1) / 0, np.float64(0) / 0, np.int64(1) // 0, np.int64(1) % 0, np.float64(0) ** -1, np.float64(1) % 0)
`;
  expect(run(text).printed).toBe("float32 float64 float32\ninf -inf nan nan inf -inf -inf\n-inf nan 0 0 inf nan");
});

it("tables of positions that are made number by number cost few steps", () => {
  const text = `import numpy as np
import torch
def row(p):
    return [np.sin(p / np.power(10000, 2 * (i // 2) / 256)) for i in range(256)]
table = np.array([row(p) for p in range(200)])
print(torch.tensor(table).shape, np.array([[np.float32(1), 2.5], [3, True]]).tolist())
`;
  const options = { ...defaultSessionOptions(), stepBudget: 5_000_000 };
  const program = new Session(() => text, options).run("/m.py");
  expect(program.diagnostics.filter(d => d.severity !== "information").map(d => d.message)).toEqual([]);
  expect(program.events.map(e => (e.kind === "print" ? e.text : "")).join("")).toBe(
    "torch.Size([200, 256]) [[1.0, 2.5], [3.0, 1.0]]\n",
  );
});

it("scipy.linalg gives factors of matrices in their shapes and dtypes", () => {
  const text = `
import scipy as sp
import scipy.linalg
from scipy.linalg import qr
w = np.random.randn(4, 6).astype("float32")
print([(f.shape, str(f.dtype)) for f in sp.linalg.lu(w)])
print([f.shape for f in qr(w)], scipy.linalg.hadamard(2).tolist(), scipy.linalg.block_diag(w, w).shape)
`;
  expect(run(text).printed).toBe(
    "[((4, 4), 'float32'), ((4, 4), 'float32'), ((4, 6), 'float32')]\n[(4, 4), (4, 6)] [[1.0, 1.0], [1.0, -1.0]] (8, 12)",
  );
});

it("scipy.stats gives samples in their shapes and the moments of truncated normal distributions", () => {
  const text = `
from scipy.stats import norm, truncnorm, uniform
print(round(truncnorm.std(a=-2, b=2, loc=0, scale=1), 6), truncnorm.rvs(-2, 2, size=(3, 4)).shape, norm(1, 2).std(), uniform.mean())
`;
  expect(run(text).printed).toBe("0.879626 (3, 4) 2.0 0.5");
});

it("numpy.linalg gives powers and products of matrices, and random generators samples of less common distributions", () => {
  const text = `
import numpy as np
a = np.array([[1, 1], [0, 1]])
print(np.linalg.matrix_power(a, 3).tolist(), np.linalg.matrix_power(a, 0).tolist())
print(np.linalg.multi_dot([np.eye(2), np.ones((2, 3))]).shape, np.random.rayleigh(scale=2.0, size=(4, 5)).shape)
try:
    raise np.linalg.LinAlgError("singular")
except ValueError as e:
    print(e)
`;
  expect(run(text).printed).toBe("[[1, 3], [0, 1]] [[1, 0], [0, 1]]\n(2, 3) (4, 5)\nsingular");
});
