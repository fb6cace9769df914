// Small programs made from a list of numbers. In: a tape of naturals, each deciding one thing. Out: Python source text of
// one compiled function and its call, with the coarsest dtype that it computes in. Promises: the same tape, the same
// text; every program is valid; what a rounding error could flip (comparisons, argmax, casts to int) is only asked of
// values that no rounding has touched.

import {
  type Draw,
  inPlace,
  type Made,
  type Operand,
  ordering,
  scanning,
  scattering,
  throughComplex,
} from "./random_steps";

export type FloatType = "float64" | "float32" | "float16" | "bfloat16";

export interface RandomProgram {
  readonly source: string;
  readonly coarsest: FloatType;
}

const SIZES = [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 32, 33, 64, 100, 257];
const MAX_ELEMENTS = 4096;
const FLOATS: readonly FloatType[] = ["float64", "float32", "float16", "bfloat16"];
const COARSENESS: readonly FloatType[] = ["float64", "float32", "float16", "bfloat16"];

const UNARY: readonly string[] = [
  "torch.sin(@)",
  "torch.cos(@)",
  "torch.tanh(@)",
  "torch.sigmoid(@)",
  "torch.exp(-@.abs())",
  "torch.sqrt(@.abs() + 1.0)",
  "torch.rsqrt(@ * @ + 0.5)",
  "torch.log1p(@.abs())",
  "torch.erf(@)",
  "F.gelu(@)",
  "F.silu(@)",
  "F.softplus(@)",
  "F.leaky_relu(@, 0.1)",
  "@ * 1.7",
  "@ - 0.3",
  "(@ + 2.0) / 3.0",
  "@.clamp(-0.8, 0.9)",
  "torch.square(@) * 0.5",
  "1.0 - @",
];
const UNARY_EXACT: readonly string[] = ["-@", "@.abs()", "F.relu(@)"];
const BINARY: readonly string[] = ["@ + #", "@ - #", "@ * #", "@ / (#.abs() + 1.0)", "torch.lerp(@, #, 0.3)"];
const BINARY_EXACT: readonly string[] = ["torch.maximum(@, #)", "torch.minimum(@, #)"];
const INT_UNARY: readonly string[] = ["@ * 3 - 1", "@ % 5", "@ // 3", "-@", "@.abs()", "@ & 6", "@ ^ 3"];

export function randomProgram(tape: readonly number[]): RandomProgram {
  return new Maker(tape).make();
}

class Maker implements Draw {
  private at = 0;
  private readonly setup: string[] = [];
  private readonly body: string[] = [];
  private readonly values: Operand[] = [];
  private readonly args: string[] = [];
  private coarsest: FloatType = "float64";
  private next = 0;

  constructor(private readonly tape: readonly number[]) {}

  make(): RandomProgram {
    const base = this.shape();
    const inputs = 1 + this.pick(3);
    const main = FLOATS[[1, 1, 0, 0, 2, 3][this.pick(6)] ?? 0] ?? "float32";
    for (let i = 0; i < inputs; i++)
      this.input(i === 0 ? base : this.broadcastable(base), this.flip(6) ? this.float() : main);
    if (this.flip(5)) this.intInput(base);
    const steps = 3 + this.pick(9);
    for (let i = 0; i < steps; i++) this.step();
    const computed = this.values.slice(inputs);
    const outputs = new Set([this.values[this.values.length - 1]?.name ?? "x0"]);
    for (let n = this.pick(4); n > 0 && computed.length; n--)
      outputs.add(computed[this.pick(computed.length)]?.name ?? "x0");
    const source = [
      "import torch",
      "import torch.nn.functional as F",
      "",
      "",
      "@torch.compile",
      `def f(${this.args.join(", ")}):`,
      ...this.body.map(l => `    ${l}`),
      `    return ${[...outputs].join(", ")}`,
      "",
      "",
      ...this.setup,
      `f(${this.args.join(", ")})`,
      "",
    ].join("\n");
    return { source, coarsest: this.coarsest };
  }

  pick(n: number): number {
    const x = this.tape[this.at % this.tape.length] ?? 0;
    this.at++;
    return x % n;
  }

  /** true once in n times */
  flip(n: number): boolean {
    return this.pick(n) === n - 1;
  }

  one<T>(xs: readonly T[]): T {
    return xs[this.pick(xs.length)] as T;
  }

  private shape(): number[] {
    const rank = 1 + this.pick(4);
    const shape: number[] = [];
    let left = MAX_ELEMENTS;
    for (let d = 0; d < rank; d++) {
      const size = this.one(SIZES.filter(s => s <= left));
      shape.push(size);
      left = Math.floor(left / size);
    }
    return shape;
  }

  private broadcastable(base: readonly number[]): number[] {
    const shape = base.map(s => (this.flip(3) ? 1 : s));
    return this.flip(4) && shape.length > 1 ? shape.slice(1) : shape;
  }

  private float(): FloatType {
    return this.one(FLOATS);
  }

  private uses(dtype: FloatType): void {
    if (COARSENESS.indexOf(dtype) > COARSENESS.indexOf(this.coarsest)) this.coarsest = dtype;
  }

  /** with strides of its own: permuted, every second element of something larger, or expanded */
  private input(shape: readonly number[], dtype: FloatType): void {
    const name = `x${this.args.length}`;
    const rank = shape.length;
    let text: string;
    switch (this.pick(6)) {
      case 0: {
        const order = this.permutation(rank);
        const inverse = order.map((_, d) => order.indexOf(d));
        text = `${this.randn(
          order.map(d => shape[d] ?? 1),
          dtype,
        )}.permute(${inverse.join(", ")})`;
        break;
      }
      case 1: {
        const d = this.pick(rank);
        text = `${this.randn(
          shape.map((s, i) => (i === d ? s * 2 : s)),
          dtype,
        )}[${":, ".repeat(d)}::2]`;
        break;
      }
      case 2: {
        const d = this.pick(rank);
        text = `${this.randn(
          shape.map((s, i) => (i === d ? 1 : s)),
          dtype,
        )}.expand(${shape.join(", ")})`;
        break;
      }
      default:
        text = this.randn(shape, dtype);
    }
    this.setup.push(`${name} = ${text}`);
    this.args.push(name);
    this.values.push({ name, shape: [...shape], kind: "float", exact: true });
    this.uses(dtype);
  }

  private intInput(shape: readonly number[]): void {
    const name = `x${this.args.length}`;
    this.setup.push(`${name} = torch.randint(0, 9, (${tuple(shape)}), device="cuda")`);
    this.args.push(name);
    this.values.push({ name, shape: [...shape], kind: "int", exact: true });
  }

  private randn(shape: readonly number[], dtype: FloatType): string {
    return `torch.randn(${shape.join(", ")}, device="cuda", dtype=torch.${dtype})`;
  }

  private permutation(rank: number): number[] {
    const left = Array.from({ length: rank }, (_, i) => i);
    const out: number[] = [];
    while (left.length) out.push(...left.splice(this.pick(left.length), 1));
    return out;
  }

  private put(text: string, shape: readonly number[], kind: Operand["kind"], exact: boolean): void {
    const name = `t${this.next++}`;
    this.body.push(`${name} = ${text}`);
    this.values.push({ name, shape: [...shape], kind, exact });
  }

  /** recent values more often, so that chains get long */
  private value(accept: (v: Operand) => boolean = () => true): Operand | undefined {
    const found = this.values.filter(accept);
    if (!found.length) return undefined;
    return found[Math.max(this.pick(found.length), this.pick(found.length))];
  }

  private floatValue(accept: (v: Operand) => boolean = () => true): Operand | undefined {
    return this.value(v => v.kind === "float" && accept(v));
  }

  private step(): void {
    switch (this.pick(25)) {
      case 0:
      case 1:
      case 2:
        return this.unary();
      case 3:
      case 4:
      case 5:
        return this.binary();
      case 6:
      case 7:
      case 8:
        return this.reduction();
      case 9:
        return this.normalization();
      case 10:
      case 11:
      case 12:
      case 13:
        return this.view();
      case 14:
        return this.join();
      case 15:
        return this.choose();
      case 16:
        return this.index();
      case 17:
        return this.made(x => scanning(this, x));
      case 18:
        return this.cast();
      case 20:
        return this.made(x => ordering(this, x));
      case 21:
        return this.made(x => scattering(this, x, MAX_ELEMENTS));
      case 22:
      case 23:
        return this.made(
          x =>
            inPlace(
              this,
              x,
              this.floatValue(o => joined(o.shape, x.shape)?.join() === x.shape.join()),
            ),
          "float",
        );
      case 24:
        return this.complex();
      default:
        return this.integers();
    }
  }

  private unary(): void {
    const v = this.floatValue();
    if (!v) return;
    const keeps = this.flip(5);
    const text = this.one(keeps ? UNARY_EXACT : UNARY).replaceAll("@", v.name);
    this.put(text, v.shape, "float", v.exact && keeps);
  }

  private binary(): void {
    const a = this.floatValue();
    const b = a && this.floatValue(v => joined(a.shape, v.shape) !== null);
    if (!a || !b) return;
    const keeps = this.flip(4);
    const text = this.one(keeps ? BINARY_EXACT : BINARY)
      .replaceAll("@", a.name)
      .replaceAll("#", b.name);
    // torch.lerp wants both in one dtype
    const same = text.startsWith("torch.lerp")
      ? text.replace(`, ${b.name},`, `, ${b.name}.to(${a.name}.dtype),`)
      : text;
    this.put(same, joined(a.shape, b.shape) ?? a.shape, "float", a.exact && b.exact && keeps);
  }

  private dims(rank: number): number[] {
    const count = 1 + this.pick(rank);
    return this.permutation(rank).slice(0, count);
  }

  private reduction(): void {
    const v = this.value(x => x.shape.length > 0);
    if (!v) return;
    const dims = this.dims(v.shape.length);
    const keepdim = this.flip(2);
    const shape = v.shape.flatMap((s, d) => (dims.includes(d) ? (keepdim ? [1] : []) : [s]));
    const over = `(${tuple(dims)})${keepdim ? ", keepdim=True" : ""}`;
    const count = dims.reduce((n, d) => n * (v.shape[d] ?? 1), 1);
    if (v.kind === "bool") return this.put(`${v.name}.sum(${over})`, shape, "int", true);
    if (v.kind === "int")
      return this.put(this.flip(3) ? `${v.name}.amax(${over})` : `${v.name}.sum(${over})`, shape, "int", true);
    switch (this.pick(8)) {
      case 0:
        return this.put(`${v.name}.mean(${over})`, shape, "float", false);
      case 1:
        return this.put(`${v.name}.amax(${over})`, shape, "float", v.exact);
      case 2:
        return this.put(`${v.name}.amin(${over})`, shape, "float", v.exact);
      case 3:
        if (count < 2) return;
        return this.put(`${v.name}.var(${over})`, shape, "float", false);
      case 4:
        return this.put(`torch.logsumexp(${v.name}, ${over})`, shape, "float", false);
      case 5: {
        const d = dims[0] ?? 0;
        if (!v.exact) return;
        const one = v.shape.flatMap((s, i) => (i === d ? (keepdim ? [1] : []) : [s]));
        return this.put(`${v.name}.argmax(${d}, keepdim=${keepdim ? "True" : "False"})`, one, "int", true);
      }
      default:
        return this.put(`${v.name}.sum(${over})`, shape, "float", false);
    }
  }

  private normalization(): void {
    const v = this.floatValue(x => x.shape.length > 0 && (x.shape[x.shape.length - 1] ?? 1) > 1);
    if (!v) return;
    const d = this.pick(v.shape.length);
    const last = v.shape[v.shape.length - 1] ?? 1;
    const text = this.one([
      `F.softmax(${v.name}, dim=${d})`,
      `F.log_softmax(${v.name}, dim=${d})`,
      `F.layer_norm(${v.name}, (${last},))`,
      `F.rms_norm(${v.name}, (${last},), eps=1e-3)`,
    ]);
    this.put(text, v.shape, "float", false);
  }

  private view(): void {
    const v = this.value(x => x.shape.length > 0);
    if (!v) return;
    const { shape, name } = v;
    const rank = shape.length;
    const d = this.pick(rank);
    const size = shape[d] ?? 1;
    const put = (text: string, to: readonly number[]) => this.put(text, to, v.kind, v.exact);
    const at = (s: string) => `${name}[${":, ".repeat(d)}${s}]`;
    const resized = (s: number) => shape.map((x, i) => (i === d ? s : x));
    switch (this.pick(11)) {
      case 0: {
        const order = this.permutation(rank);
        return put(
          `${name}.permute(${order.join(", ")})`,
          order.map(i => shape[i] ?? 1),
        );
      }
      case 1:
        if (rank < 2) return;
        return put(
          `${name}.flatten(${Math.min(d, rank - 2)}, ${Math.min(d, rank - 2) + 1})`,
          merged(shape, Math.min(d, rank - 2)),
        );
      case 2: {
        const factor = [2, 3, 4, 5, 7, 8].filter(k => size % k === 0 && size > k);
        if (!factor.length || rank > 4) return;
        const k = this.one(factor);
        const to = [...shape.slice(0, d), k, size / k, ...shape.slice(d + 1)];
        return put(`${name}.reshape(${to.join(", ")})`, to);
      }
      case 3: {
        if (size < 3) return;
        const from = this.pick(size - 1);
        const to = from + 1 + this.pick(size - from);
        return put(at(`${from}:${to}`), resized(Math.min(to, size) - from));
      }
      case 4:
        return put(at("::2"), resized(Math.ceil(size / 2)));
      case 5: {
        const i = this.pick(size);
        return put(
          `${name}.select(${d}, ${i})`,
          shape.filter((_, x) => x !== d),
        );
      }
      case 6:
        if (rank > 4) return;
        return put(`${name}.unsqueeze(${d})`, [...shape.slice(0, d), 1, ...shape.slice(d)]);
      case 7: {
        if (!shape.includes(1)) return;
        const i = shape.indexOf(1);
        const to = shape.map((s, x) => (x === i ? 1 + this.pick(6) : s));
        return product(to) > MAX_ELEMENTS ? undefined : put(`${name}.expand(${to.join(", ")})`, to);
      }
      case 8:
        return put(`${name}.flip(${d})`, shape);
      case 9:
        return put(`${name}.contiguous()`, shape);
      default:
        return put(`torch.roll(${name}, ${1 + this.pick(3)}, ${d})`, shape);
    }
  }

  private join(): void {
    const a = this.value(x => x.shape.length > 0);
    const b = a && this.value(x => x.kind === a.kind && x.shape.join() === a.shape.join());
    if (!a || !b || product(a.shape) * 2 > MAX_ELEMENTS) return;
    const d = this.pick(a.shape.length);
    const exact = a.exact && b.exact;
    if (this.flip(4)) {
      const to = [...a.shape.slice(0, d), 2, ...a.shape.slice(d)];
      return this.put(`torch.stack([${a.name}, ${b.name}], ${d})`, to, a.kind, exact);
    }
    if (this.flip(4) && a.kind === "float") {
      const to = a.shape.map((s, i) => (i === a.shape.length - 1 ? s + 3 : s));
      return this.put(`F.pad(${a.name}, (1, 2), value=0.5)`, to, "float", a.exact);
    }
    const to = a.shape.map((s, i) => (i === d ? s * 2 : s));
    this.put(`torch.cat([${a.name}, ${b.name}], ${d})`, to, a.kind, exact);
  }

  /** a condition, and what it decides */
  private choose(): void {
    const c = this.floatValue(v => v.exact);
    if (!c) return;
    const condition = `${c.name} ${this.one([">", "<", ">=", "<="])} ${this.one(["0", "0.5", "-0.25"])}`;
    if (this.flip(3)) return this.put(condition, c.shape, "bool", true);
    const a = this.floatValue(v => joined(v.shape, c.shape) !== null);
    if (!a) return;
    const shape = joined(a.shape, c.shape) ?? c.shape;
    const b = this.floatValue(v => joined(v.shape, shape) !== null);
    if (!b || this.flip(3)) return this.put(`torch.where(${condition}, ${a.name}, 0.25)`, shape, "float", a.exact);
    const to = joined(b.shape, shape) ?? shape;
    this.put(`torch.where(${condition}, ${a.name}, ${b.name})`, to, "float", a.exact && b.exact);
  }

  private index(): void {
    const v = this.value(x => x.shape.length > 0);
    if (!v) return;
    const d = this.pick(v.shape.length);
    const size = v.shape[d] ?? 1;
    const count = 1 + this.pick(9);
    const to = v.shape.map((s, i) => (i === d ? count : s));
    if (product(to) > MAX_ELEMENTS) return;
    const places = `(torch.arange(${count}, device="cuda") * ${1 + this.pick(5)} + ${this.pick(4)}) % ${size}`;
    if (this.flip(2)) return this.put(`torch.index_select(${v.name}, ${d}, ${places})`, to, v.kind, v.exact);
    if (this.flip(2)) {
      const dims = v.shape.map((_, i) => (i === d ? -1 : 1));
      const wide = `(${places}).view(${dims.join(", ")}).expand(${to.join(", ")})`;
      return this.put(`torch.gather(${v.name}, ${d}, ${wide})`, to, v.kind, v.exact);
    }
    this.put(`${v.name}[${":, ".repeat(d)}${places}]`, to, v.kind, v.exact);
  }

  /** a step of one value that is no scalar */
  private made(make: (v: Operand) => Made | null, kind?: Operand["kind"]): void {
    const v = this.value(x => x.shape.length > 0 && x.kind !== "bool" && (kind === undefined || x.kind === kind));
    const made = v && make(v);
    if (!made) return;
    this.put(made.text, made.shape, made.kind, made.exact);
    const name = this.values[this.values.length - 1]?.name ?? "";
    this.body.push(...(made.after ?? []).map(l => l.replaceAll("%", name)));
  }

  private complex(): void {
    const a = this.floatValue(v => v.shape.length > 0 && product(v.shape) * 2 <= MAX_ELEMENTS);
    const b = a && this.floatValue(v => v.shape.join() === a.shape.join());
    if (!a || !b) return;
    this.uses("float32");
    const { text, shape, kind, exact } = throughComplex(this, a, b);
    this.put(text, shape, kind, exact);
  }

  private cast(): void {
    const v = this.value();
    if (!v) return;
    if (this.flip(3) && v.exact && v.kind === "float")
      return this.put(`(${v.name} * 4).to(torch.int64)`, v.shape, "int", true);
    const dtype = this.float();
    this.uses(dtype);
    this.put(`${v.name}.to(torch.${dtype})`, v.shape, "float", v.kind === "float" && v.exact);
  }

  private integers(): void {
    const v = this.value(x => x.kind !== "float");
    if (!v) {
      const size = this.one(SIZES);
      return this.put(`torch.arange(${size}, device="cuda")`, [size], "int", true);
    }
    if (v.kind === "bool") {
      return this.flip(2)
        ? this.put(`~${v.name}`, v.shape, "bool", true)
        : this.put(`${v.name}.to(torch.int64)`, v.shape, "int", true);
    }
    this.put(this.one(INT_UNARY).replaceAll("@", v.name), v.shape, "int", true);
  }
}

function product(shape: readonly number[]): number {
  return shape.reduce((a, b) => a * b, 1);
}

function tuple(xs: readonly number[]): string {
  return xs.length === 1 ? `${xs[0]},` : xs.join(", ");
}

function merged(shape: readonly number[], d: number): number[] {
  return [...shape.slice(0, d), (shape[d] ?? 1) * (shape[d + 1] ?? 1), ...shape.slice(d + 2)];
}

/** the broadcast shape, null where there is none or it is too large */
function joined(a: readonly number[], b: readonly number[]): number[] | null {
  const rank = Math.max(a.length, b.length);
  const out: number[] = [];
  for (let d = 0; d < rank; d++) {
    const x = a[d - rank + a.length] ?? 1;
    const y = b[d - rank + b.length] ?? 1;
    if (x !== y && x !== 1 && y !== 1) return null;
    out.push(Math.max(x, y));
  }
  return product(out) > MAX_ELEMENTS ? null : out;
}
