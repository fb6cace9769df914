// Wrong programs get PyTorch's own kind of error as a diagnostic, at the line where PyTorch would raise it.
import { describe, expect, it } from "vitest";
import { runSource } from "../walkthrough/logs";

function errors(source: string): { line: number; message: string }[] {
  const text = `import torch\nimport torch.nn.functional as F\n${source}`;
  return runSource("/wrong/model.py", text)
    .diagnostics.filter(d => d.severity === "error")
    .map(d => ({ line: d.span.line - 2, message: d.message }));
}

/** what is wrong, the program, the line of it that fails, how its error begins */
const WRONG: readonly (readonly [string, string, number, RegExp])[] = [
  [
    "writing into a leaf in a compiled function",
    `@torch.compile
def f(x):
    x.mul_(2)
    return x.sum()
x = torch.randn(4, requires_grad=True, device="cuda")
f(x)`,
    3,
    /^RuntimeError: a leaf Variable that requires grad is being used in an in-place operation/,
  ],
  [
    "assigning to an element of a leaf",
    `@torch.compile
def f(x):
    x[0] = 1.0
    return x.sum()
x = torch.randn(4, requires_grad=True, device="cuda")
f(x)`,
    3,
    /^RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation/,
  ],
  [
    "writing into a leaf outside of compiled functions",
    `x = torch.randn(4, requires_grad=True, device="cuda")
x.add_(1)`,
    2,
    /^RuntimeError: a leaf Variable that requires grad is being used in an in-place operation/,
  ],
  [
    "going backward twice through a compiled function",
    `@torch.compile
def f(x):
    return (x * x).sum()
x = torch.randn(4, requires_grad=True, device="cuda")
y = f(x)
y.backward()
y.backward()`,
    7,
    /^RuntimeError: Trying to backward through the graph a second time/,
  ],
  [
    "going backward through what two losses share, freed by the first",
    `x = torch.randn(4, requires_grad=True, device="cuda")
y = x.sin()
(y * 2).sum().backward()
(y * 3).sum().backward()`,
    4,
    /^RuntimeError: Trying to backward through the graph a second time/,
  ],
  [
    "backward() of a tensor of several elements",
    `@torch.compile
def f(x):
    return x * x
x = torch.randn(4, requires_grad=True, device="cuda")
y = f(x)
y.backward()`,
    6,
    /^RuntimeError: grad can be implicitly created only for scalar outputs/,
  ],
  [
    "backward() where nothing requires grad",
    `x = torch.randn(4, device="cuda")
(x * x).sum().backward()`,
    2,
    /^RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn/,
  ],
  [
    "a product of matrices that do not fit",
    `@torch.compile
def f(x, w):
    y = x + 1
    return y @ w
f(torch.randn(4, 8, device="cuda"), torch.randn(7, 3, device="cuda"))`,
    4,
    /^RuntimeError: mat1 and mat2 shapes cannot be multiplied \(4x8 and 7x3\)/,
  ],
  [
    "a sum of tensors that do not broadcast",
    `@torch.compile
def f(x, w):
    y = x * 2
    return y + w
f(torch.randn(4, 8, device="cuda"), torch.randn(7, device="cuda"))`,
    4,
    /^RuntimeError: The size of tensor a \(8\) must match the size of tensor b \(7\) at non-singleton dimension 1/,
  ],
  [
    "assigning to an element of a leaf outside of compiled functions",
    `x = torch.randn(4, requires_grad=True, device="cuda")
x[0] = 1.0`,
    2,
    /^RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation/,
  ],
  [
    "writing into a view of a parameter outside of compiled functions",
    `w = torch.nn.Parameter(torch.zeros(4, 4, device="cuda"))
row = w[1]
row.add_(1)`,
    3,
    /^RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation/,
  ],
  [
    "overwriting a result that its gradient needs",
    `@torch.compile
def f(x):
    y = x.sigmoid()
    y.add_(1)
    return y.sum()
x = torch.randn(4, 3, requires_grad=True, device="cuda")
f(x).backward()`,
    3,
    /^RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: \[torch.cuda.FloatTensor \[4, 3\]\]/,
  ],
  [
    "overwriting an operand through a view of it",
    `@torch.compile
def f(x, w):
    h = x * 2
    y = h @ w
    h.view(-1)[0] = 0.0
    return y.sum()
x = torch.randn(4, 3, requires_grad=True, device="cuda")
f(x, torch.randn(3, 2, requires_grad=True, device="cuda")).backward()`,
    4,
    /modified by an inplace operation/,
  ],
  [
    "clearing what a product was made of",
    `@torch.compile
def f(x):
    y = x.exp() + 1
    z = y.mul(y)
    y.zero_()
    return z.sum()
x = torch.randn(4, 3, requires_grad=True, device="cuda")
f(x).backward()`,
    4,
    /modified by an inplace operation/,
  ],
  [
    "floats as an index",
    `@torch.compile
def f(x, i):
    y = x * 2
    return y[i]
f(torch.randn(4, 8, device="cuda"), torch.randn(3, device="cuda"))`,
    4,
    /^IndexError: tensors used as indices must be long, int, byte or bool tensors/,
  ],
  [
    "floats as an index of gather",
    `@torch.compile
def f(x, i):
    return torch.gather(x, 0, i)
f(torch.randn(4, 8, device="cuda"), torch.randn(3, 8, device="cuda"))`,
    3,
    /^RuntimeError: gather\(\): Expected dtype int32\/int64 for index/,
  ],
  [
    "floats as tokens of an embedding",
    `@torch.compile
def f(i, w):
    return F.embedding(i, w)
f(torch.randn(3, device="cuda"), torch.randn(4, 8, device="cuda"))`,
    3,
    /^RuntimeError: Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int/,
  ],
];

describe("a wrong program is told its error", () => {
  it.each(WRONG)("%s", (_, source, line, message) => {
    const [first, ...more] = errors(source);
    expect(first?.message).toMatch(message);
    expect(first?.line).toBe(line);
    expect(more).toEqual([]);
  });
});

/** programs that look like one of the above and are right */
const RIGHT: readonly (readonly [string, string])[] = [
  [
    "parameters written without gradients between two steps",
    `p = torch.nn.Parameter(torch.ones(4, device="cuda"))
opt = torch.optim.AdamW([p])
for step in range(3):
    (p * p).sum().backward()
    opt.step()`,
  ],
  [
    "retained graphs",
    `x = torch.randn(4, requires_grad=True, device="cuda")
y = x.sin().sum()
y.backward(retain_graph=True)
y.backward()`,
  ],
  [
    "graphs that save nothing",
    `x = torch.randn(4, requires_grad=True, device="cuda")
y = (x + 1).sum()
y.backward()
y.backward()`,
  ],
  [
    "a gradient that is given",
    `x = torch.randn(4, requires_grad=True, device="cuda")
(x * x).backward(torch.ones(4, device="cuda"))`,
  ],
  [
    "an update without gradients, and another step",
    `w = torch.randn(4, requires_grad=True, device="cuda")
@torch.compile
def f(w):
    return (w * w).sum()
for _ in range(3):
    f(w).backward()
    with torch.no_grad():
        w.sub_(0.1 * w.grad)
        w.grad.zero_()`,
  ],
  [
    "a write over what no gradient needs",
    `@torch.compile
def f(x, w):
    y = x + 1
    z = y * w
    y.zero_()
    return z.sum() + y.sum()
x = torch.randn(4, requires_grad=True, device="cuda")
f(x, torch.randn(4, device="cuda")).backward()`,
  ],
  [
    "a write into an input that was computed",
    `@torch.compile
def f(h):
    h.add_(1)
    h[0].mul_(2)
    return h.sin()
x = torch.randn(4, 3, requires_grad=True, device="cuda")
f(x * 2).sum().backward()`,
  ],
  [
    "a write into a leaf's data, and under no_grad",
    `w = torch.nn.Parameter(torch.zeros(4, 4, device="cuda"))
w.data[0] = 1.0
with torch.no_grad():
    w[1] = 2.0
    w[2].add_(1)
w.detach().zero_()`,
  ],
  [
    "running statistics written while the batch is normalized",
    `bn = torch.compile(torch.nn.BatchNorm1d(3).cuda())
x = torch.randn(8, 3, requires_grad=True, device="cuda")
bn(x).sum().backward()`,
  ],
  [
    "a write after the leaf",
    `x = torch.randn(4, requires_grad=True, device="cuda")
y = x * 2
y.add_(1)
y.sum().backward()`,
  ],
];

describe("a right program is not", () => {
  it.each(RIGHT)("%s", (_, source) => {
    expect(errors(source)).toEqual([]);
  });
});
