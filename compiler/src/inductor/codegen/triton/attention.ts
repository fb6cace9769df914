// Attention as one Triton kernel: a program per block of query rows walks over the keys, keeping each row's greatest score,
// sum of exponentials and weighted sum of values, so that scores never reach memory (online softmax). In: an attention
// node. Out: the kernel's lines. Promises: sums are float32; a row that sees no key is zero.
import type { BufferView } from "../../ir/types";
import type { TritonConfig } from "../../plan/types";
import type { SchedulerNode } from "../../scheduler/types";
import { type Expr, int, intValue, mul, type SymExpr, add as sum } from "../../symbolic/expr";
import type { Attention } from "../../templates/attention";
import { type Features, indexDtype } from "./features";
import { type EmittedKernel, finishKernel, type KernelContext, rangesOf } from "./generate";
import { TritonKernel } from "./kernel";
import type { KernelSpec } from "./kernel_spec";
import { emitStore } from "./memory";
import { pythonFloat } from "./python_text";
import type { RangeTree } from "./range_tree";

const WIDEST_TILE = 128;

class AttentionKernel extends TritonKernel {
  constructor(spec: KernelSpec) {
    super({ ...spec, constants: ["KBLOCK"] });
  }
  override writeHeader(): void {}
  override hasConstantMask(t: RangeTree): boolean {
    return t.prefix !== "y" || this.sizevars.knownMultipleOf(t.numel, WIDEST_TILE);
  }
}

const LOG2_E = Math.LOG2E;

export function emitAttention(c: KernelContext, node: SchedulerNode, a: Attention): EmittedKernel {
  const features: Features = { nodes: [node], numel: node.group[0], rnumel: int(1) };
  const [batch, heads, rows, width] = a.q.size as readonly [Expr, Expr, Expr, Expr];
  const k = new AttentionKernel({
    graph: c.graph,
    options: c.options,
    tiling: new Map([
      ["z", mul(batch, heads)] as const,
      ["y", rows] as const,
      ["x", width] as const,
      ["r0_", int(1)] as const,
    ]),
    isReduction: false,
    persistent: false,
    indexDtype: indexDtype(features, c.graph),
    scalarTrees: new Set(["z"]),
  });
  const place = rangesOf(k, node)[0] as SymExpr[];
  new AttentionWriter(k, node.name, a).write();
  const out = node.outputs[0]?.name;
  if (out === undefined) throw new Error(`${node.name} writes nothing`);
  const l = k.graph.tensorLayout(out);
  const at = l.stride.reduce<Expr>((t, s, d) => sum(t, mul(s, place[d] as Expr)), l.offset);
  k.node = node;
  k.op = node.name;
  emitStore(k, out, at, k.cse.define("out", "float32", k.denseShape()), null);
  k.node = null;
  k.op = "";
  finishKernel(k);
  return { kernel: k, features, hint: "DEFAULT", scores: null, schedule: [] };
}

class AttentionWriter {
  private readonly width: number;
  private readonly ragged: { readonly rows: boolean; readonly keys: boolean };

  constructor(
    private readonly k: AttentionKernel,
    private readonly op: string,
    private readonly a: Attention,
  ) {
    const sv = k.sizevars;
    this.width = intValue(a.q.size[3] as Expr) ?? 0;
    this.ragged = {
      rows: !sv.knownMultipleOf(a.q.size[2] as Expr, WIDEST_TILE),
      keys: !sv.knownMultipleOf(a.k.size[2] as Expr, WIDEST_TILE),
    };
  }

  private line(text: string, indent = 0): void {
    this.k.body.write(text, this.op, { indent });
  }
  private text(e: Expr): string {
    return this.k.printIndex(e);
  }
  private get wide(): string {
    return this.k.spec.indexDtype === "int64" ? ".to(tl.int64)" : "";
  }

  /** where a head's matrix begins */
  private base(v: BufferView, head: string): string {
    const [b, h] = v.stride as readonly [Expr, Expr];
    const offset = this.text(v.offset);
    return `${this.k.args.input(v.buffer)}${offset === "0" ? "" : ` + ${offset}`} + (batch * ${factor(this.text(b))} + ${head} * ${factor(this.text(h))})`;
  }

  write(): void {
    const { a, width } = this;
    const heads = this.text(a.q.size[1] as Expr);
    this.line(`knumel = ${this.text(a.k.size[2] as Expr)}`);
    this.line("ytiles = tl.cdiv(ynumel, YBLOCK)");
    this.line(`zindex = (tl.program_id(0) // ytiles)${this.wide}`);
    // causal rows at the end have most to do: they begin first
    this.line(
      a.causal
        ? "yoffset = (ytiles - 1 - tl.program_id(0) % ytiles) * YBLOCK"
        : "yoffset = tl.program_id(0) % ytiles * YBLOCK",
    );
    this.line(`batch = zindex // ${factor(heads)}`);
    this.line(`head = zindex % ${factor(heads)}`);
    this.line(a.group === 1 ? "shared = head" : `shared = head // ${a.group}`);
    this.line(`yindex = yoffset + tl.arange(0, YBLOCK)[:, None]${this.wide}`);
    if (this.ragged.rows) this.line("ymask = yindex < ynumel");
    this.line(`xindex = tl.arange(0, ${width})[None, :]`);
    this.line("kbase = tl.arange(0, KBLOCK)");
    const step = factor(this.text(a.q.stride[2] as Expr));
    this.line(
      `q = tl.load(${this.base(a.q, "head")} + (yindex * ${step} + xindex)${this.ragged.rows ? ", ymask, other=0.0" : ""})`,
    );
    this.line(`k_at = ${this.base(a.k, "shared")}`);
    this.line(`v_at = ${this.base(a.v, "shared")}`);
    if (a.bias) this.line(`bias_at = ${this.biasBase(a.bias)}`);
    this.line('greatest = tl.full([YBLOCK], float("-inf"), tl.float32)');
    this.line("total = tl.zeros([YBLOCK], tl.float32)");
    this.line(`acc = tl.zeros([YBLOCK, ${width}], tl.float32)`);
    if (a.causal) {
      // blocks below the diagonal need no mask
      this.line("whole = min(yoffset // KBLOCK * KBLOCK, knumel // KBLOCK * KBLOCK)");
      this.loop("0", "whole", false);
      this.loop("whole", "min(yoffset + YBLOCK, knumel)", true);
    } else if (this.ragged.keys) {
      this.line("whole = knumel // KBLOCK * KBLOCK");
      this.loop("0", "whole", false);
      this.loop("whole", "knumel", true);
    } else this.loop("0", "knumel", false);
    this.line("out = acc / tl.where(total == 0.0, 1.0, total)[:, None]");
  }

  private biasBase(v: BufferView): string {
    const [b, h] = v.stride.slice(0, 2);
    const [sizeB, sizeH] = v.size.slice(0, 2);
    const steps = [
      intValue(sizeB as Expr) === 1 ? "0" : `batch * ${factor(this.text(b as Expr))}`,
      intValue(sizeH as Expr) === 1 ? "0" : `head * ${factor(this.text(h as Expr))}`,
    ].filter(s => s !== "0" && !s.endsWith("* 0"));
    const offset = this.text(v.offset);
    return [this.k.args.input(v.buffer), ...(offset === "0" ? [] : [offset]), ...steps].join(" + ");
  }

  private loop(from: string, to: string, masked: boolean): void {
    const { a } = this;
    const half = a.q.dtype;
    this.line(`for koffset in tl.range(${from}, ${to}, KBLOCK):`);
    const put = (text: string): void => this.line(text, 1);
    put("kindex = koffset + kbase");
    const edge = masked && this.ragged.keys;
    this.operand("k", a.k, edge);
    put("scores = tl.dot(q, k.T)");
    if (a.bias) {
      const [rows, columns] = a.bias.size.slice(-2).map((s, i) => (intValue(s) === 1 ? null : a.bias?.stride[i + 2]));
      const at = [
        rows === null ? "" : `yindex * ${factor(this.text(rows as Expr))}`,
        columns === null ? "" : `kindex[None, :] * ${factor(this.text(columns as Expr))}`,
      ].filter(s => s !== "" && !s.endsWith("* 0"));
      const masks = [
        ...(this.ragged.rows && rows !== null ? ["ymask"] : []),
        ...(edge && columns !== null ? ["(kindex < knumel)[None, :]"] : []),
      ];
      const guard = masks.length > 0 ? `, ${masks.join(" & ")}, other=0.0` : "";
      put(`bias = tl.load(bias_at + (${at.length > 0 ? at.join(" + ") : "0"})${guard}).to(tl.float32)`);
      put(`scores = scores * ${pythonFloat(a.scale * LOG2_E)} + bias * ${pythonFloat(LOG2_E)}`);
    } else put(`scores = scores * ${pythonFloat(a.scale * LOG2_E)}`);
    const seen = [
      ...(masked && a.causal ? ["(kindex[None, :] <= yindex)"] : []),
      ...(edge ? ["(kindex < knumel)[None, :]"] : []),
    ];
    if (seen.length > 0) put(`scores = tl.where(${seen.join(" & ")}, scores, float("-inf"))`);
    put("higher = tl.maximum(greatest, tl.max(scores, 1))");
    // a row that has seen nothing yet has no finite score to take away
    const careful = masked || a.bias !== null;
    put(careful ? 'origin = tl.where(higher == float("-inf"), 0.0, higher)' : "origin = higher");
    put("weights = tl.exp2(scores - origin[:, None])");
    put("fade = tl.exp2(greatest - origin)");
    put("total = total * fade + tl.sum(weights, 1)");
    put("acc = acc * fade[:, None]");
    this.operand("v", a.v, edge);
    put(`acc = tl.dot(weights.to(tl.${half}), v, acc)`);
    put("greatest = higher");
  }

  private operand(name: "k" | "v", v: BufferView, edge: boolean): void {
    const step = factor(this.text(v.stride[2] as Expr));
    const guard = edge ? ", (kindex < knumel)[:, None], other=0.0" : "";
    this.line(`${name} = tl.load(${name}_at + (kindex[:, None] * ${step} + xindex)${guard})`, 1);
  }
}

const factor = (text: string): string => (/^\w+$/.test(text) ? text : `(${text})`);

/** launch configurations for heads of this width */
export function attentionConfigs(a: Attention, sizeHint: (e: Expr) => number): readonly TritonConfig[] {
  const width = intValue(a.q.size[3] as Expr) ?? 64;
  const rows = sizeHint(a.q.size[2] as Expr);
  const list: [number, number, number, number][] =
    width <= 64
      ? [
          [64, 64, 4, 3],
          [128, 64, 4, 3],
          [128, 128, 4, 3],
          [64, 128, 4, 3],
        ]
      : width <= 128
        ? [
            [128, 64, 8, 3],
            [128, 128, 8, 3],
            [64, 64, 4, 3],
            [128, 128, 8, 2],
          ]
        : [
            [128, 64, 8, 2],
            [64, 64, 4, 2],
            [64, 32, 4, 3],
          ];
  const most = Math.max(16, 2 ** Math.ceil(Math.log2(Math.max(1, rows))));
  const seen = new Set<string>();
  return list.flatMap(([m, n, numWarps, numStages]) => {
    const config = { kwargs: { YBLOCK: Math.min(m, most), XBLOCK: width, KBLOCK: n }, numWarps, numStages };
    const key = JSON.stringify(config);
    if (seen.has(key)) return [];
    seen.add(key);
    return [config];
  });
}
