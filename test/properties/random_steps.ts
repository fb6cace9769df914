// Steps of random programs that write, order, scan or are complex. In: numbers to decide by and a value. Out: an expression
// of the result and Python lines after it. Promises: what a rounding error could flip (places of sorted values, which of two
// writes comes last) is never asked for.

export interface Draw {
  pick(n: number): number;
  /** true once in n times */
  flip(n: number): boolean;
  one<T>(xs: readonly T[]): T;
}

export interface Operand {
  readonly name: string;
  readonly shape: readonly number[];
  readonly kind: "float" | "int" | "bool";
  /** an input or what moving, negating or choosing among inputs gives */
  readonly exact: boolean;
}

export interface Made extends Omit<Operand, "name"> {
  readonly text: string;
  /** statements that follow; `%` is the name of the result */
  readonly after?: readonly string[];
}

/** a copy that is written in place, whole and through views */
export function inPlace(d: Draw, v: Operand, other: Operand | undefined): Made {
  const dim = d.pick(v.shape.length);
  const size = v.shape[dim] ?? 1;
  const part = d.one([
    "%",
    `%.select(${dim}, ${d.pick(size)})`,
    `%.narrow(${dim}, ${d.pick(size)}, 1)`,
    `%[${":, ".repeat(dim)}::2]`,
    "%.t()".repeat(v.shape.length === 2 ? 1 : 0) || "%",
  ]);
  const writes = ["@.mul_(0.5)", "@.add_(1.0)", "@.clamp_(-0.5, 0.75)", "@.relu_()", "@.fill_(0.25)", "@.neg_()"];
  if (other) writes.push(`%.copy_(${other.name})`, `%.add_(${other.name}, alpha=0.5)`, `%.mul_(${other.name})`);
  const after = Array.from({ length: 1 + d.pick(2) }, () => d.one(writes).replace("@", part));
  return { text: `${v.name}.clone()`, after, shape: v.shape, kind: v.kind, exact: false };
}

/** sorted values; their places only where no rounding decides them, and stable */
export function ordering(d: Draw, v: Operand): Made {
  const dim = d.pick(v.shape.length);
  const size = v.shape[dim] ?? 1;
  const descending = d.flip(2) ? "True" : "False";
  const resized = (n: number): number[] => v.shape.map((s, i) => (i === dim ? n : s));
  const same = { shape: v.shape, kind: v.kind, exact: v.exact };
  switch (d.pick(5)) {
    case 0: {
      const k = 1 + d.pick(Math.min(size, 7));
      return { ...same, shape: resized(k), text: `torch.topk(${v.name}, ${k}, ${dim}, ${descending})[0]` };
    }
    case 1: {
      const k = 1 + d.pick(size);
      const shape = v.shape.filter((_, i) => i !== dim);
      return { ...same, shape, text: `torch.kthvalue(${v.name}, ${k}, ${dim})[0]` };
    }
    case 2:
      if (!v.exact) break;
      return {
        ...same,
        kind: "int",
        text: `torch.sort(${v.name}, dim=${dim}, descending=${descending}, stable=True)[1]`,
      };
    case 3:
      if (!v.exact) break;
      return {
        ...same,
        kind: "int",
        text: `torch.argsort(${v.name}, dim=${dim}, descending=${descending}, stable=True)`,
      };
    default:
  }
  return { ...same, text: `torch.sort(${v.name}, dim=${dim}, descending=${descending})[0]` };
}

/** writes to computed places; those that replace what is there go to different ones */
export function scattering(d: Draw, v: Operand, most: number): Made | null {
  const dim = d.pick(v.shape.length);
  const size = v.shape[dim] ?? 1;
  const adds = d.flip(2);
  const count = 1 + d.pick(adds ? 9 : Math.min(size, 9));
  const shape = v.shape.map((s, i) => (i === dim ? count : s));
  if (shape.reduce((a, b) => a * b, 1) > most) return null;
  const step = adds ? 1 + d.pick(5) : 1;
  const places = `(torch.arange(${count}, device="cuda") * ${step} + ${d.pick(4)}) % ${size}`;
  const dims = v.shape.map((_, i) => (i === dim ? -1 : 1));
  const wide = `(${places}).view(${dims.join(", ")}).expand(${shape.join(", ")})`;
  const source = `(${wide} * 2 - 3).to(${v.name}.dtype)`;
  const result = { shape: v.shape, kind: v.kind };
  const first = dim === 0;
  if (!adds) {
    const text = d.one([
      `torch.scatter(${v.name}, ${dim}, ${wide}, ${source})`,
      `torch.scatter(${v.name}, ${dim}, ${wide}, 1)`,
      `torch.index_copy(${v.name}, ${dim}, ${places}, ${source})`,
      `torch.index_fill(${v.name}, ${dim}, ${places}, 2)`,
      `torch.scatter_reduce(${v.name}, ${dim}, ${wide}, ${source}, "amax")`,
      first
        ? `${v.name}.index_put((${places},), ${source})`
        : `torch.select_scatter(${v.name}, ${v.name}.select(${dim}, 0), ${dim}, ${d.pick(size)})`,
    ]);
    return { ...result, text, exact: v.exact };
  }
  const text = d.one([
    `torch.scatter_add(${v.name}, ${dim}, ${wide}, ${source})`,
    `torch.index_add(${v.name}, ${dim}, ${places}, ${source})`,
    `torch.scatter_reduce(${v.name}, ${dim}, ${wide}, ${source}, "sum")`,
    first
      ? `${v.name}.index_put((${places},), ${source}, accumulate=True)`
      : `torch.index_add(${v.name}, ${dim}, ${places}, ${source}, alpha=2)`,
  ]);
  return { ...result, text, exact: v.kind === "int" && v.exact };
}

export function scanning(d: Draw, v: Operand): Made {
  const dim = d.pick(v.shape.length);
  const result = { shape: v.shape, kind: v.kind, exact: v.kind === "int" && v.exact };
  const least = d.one(["cummax", "cummin"]);
  switch (v.kind === "int" ? 4 + d.pick(2) : d.pick(6)) {
    case 0:
      return { ...result, text: `torch.cumprod(torch.cos(${v.name}), ${dim})` };
    case 1:
      return { ...result, text: `torch.logcumsumexp(${v.name}, ${dim})` };
    case 2:
      if (!v.exact) break;
      return { ...result, kind: "int", exact: true, text: `torch.${least}(${v.name}, ${dim})[1]` };
    case 3:
    case 4:
      return { ...result, exact: v.exact, text: `torch.${least}(${v.name}, ${dim})[0]` };
    default:
  }
  return { ...result, text: `torch.cumsum(${v.name}, ${dim})` };
}

/** complex numbers of two float values of one shape, and back */
export function throughComplex(d: Draw, a: Operand, b: Operand): Made {
  const z = `torch.complex(${a.name}.to(torch.float32), ${b.name}.to(torch.float32))`;
  const w = `torch.polar(${b.name}.to(torch.float32).abs(), ${a.name}.to(torch.float32))`;
  const result = { kind: "float", exact: false, shape: a.shape } as const;
  const pairs = [...a.shape, 2];
  switch (d.pick(6)) {
    case 0:
      return { ...result, text: `torch.view_as_real(${z})`, shape: pairs };
    case 1:
      return { ...result, text: `torch.view_as_real(${z} * ${w})`, shape: pairs };
    case 2:
      return { ...result, text: `(${z} * ${w}.conj() + ${z}).imag` };
    case 3:
      return { ...result, text: `(${z} + 1.5).abs()` };
    case 4:
      return { ...result, text: `(${w} - ${z}).real` };
    default:
      return { ...result, text: `(${z} * (0.5 + 2j)).sum(0).real`, shape: a.shape.slice(1) };
  }
}
