// Programs with marks: `$0` is where the cursor stands, `# ^^^^ text` under a line labels the range above it.
import type { Position, Range } from "./client";

export interface Label {
  readonly range: Range;
  readonly text: string;
}

export interface Marked {
  readonly text: string;
  readonly cursor: Position | null;
  readonly labels: readonly Label[];
}

/** Reads marks out of a text. Label lines are dropped; a label's carets stand under what they mean. */
export function marked(source: string): Marked {
  const lines: string[] = [];
  const labels: Label[] = [];
  let cursor: Position | null = null;
  for (const line of source.split("\n")) {
    const label = /^\s*#\s*(\^+)\s+(.*)$/.exec(line);
    if (label) {
      const start = line.indexOf("^");
      const at = lines.length - 1;
      const end = start + (label[1]?.length ?? 0);
      labels.push({
        range: { start: { line: at, character: start }, end: { line: at, character: end } },
        text: (label[2] ?? "").trim(),
      });
      continue;
    }
    const mark = line.indexOf("$0");
    if (mark >= 0) cursor = { line: lines.length, character: mark };
    lines.push(line.replace("$0", ""));
  }
  return { text: lines.join("\n"), cursor, labels };
}

/** where `needle` begins in a text */
export function find(text: string, needle: string): Position {
  const at = text.indexOf(needle);
  if (at < 0) throw new Error(`no ${needle} in the text`);
  const before = text.slice(0, at).split("\n");
  return { line: before.length - 1, character: before[before.length - 1]?.length ?? 0 };
}

/** a row softmax whose columns are summed too: two reductions of different extent over one input */
export const TWO_SUMS = `import torch


@torch.compile
def two_sums(x):
    rows = x.sum(dim=1)
    columns = x.sum(dim=0)
    return rows, columns


two_sums(torch.randn(4096, 2048, device="cuda"))
`;

/** a column sum and a transposed copy: both read all of x, in orders that one kernel can't have */
export const SUM_AND_COPY = `import torch


@torch.compile
def sum_and_copy(x):
    total = x.sum(dim=0)
    flipped = x.t().contiguous()
    return total, flipped


x = torch.randn(8192, 3072, device="cuda")
sum_and_copy(x)
`;

export const TRAINED = `import torch


@torch.compile
def act(x, w):
    h = x * w
    return torch.tanh(h).sum()


x = torch.randn(256, 512, device="cuda", requires_grad=True)
w = torch.randn(512, device="cuda", requires_grad=True)
act(x, w).backward()
`;

export const DYNAMIC = `import torch


@torch.compile(dynamic=True)
def scaled(x):
    return torch.relu(x) * 2


scaled(torch.randn(64, 128, device="cuda"))
`;

export const BROKEN_GRAPH = `import torch


@torch.compile
def broken(x):
    y = x + 1
    if y.sum().item() > 0:
        y = y * 2
    return torch.sin(y)


broken(torch.randn(64, device="cuda"))
`;
