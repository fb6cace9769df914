// Test only. Small graphs written as loop nests. In: buffers, and per operation its loops and what they do. Out: a
// schedule, fused or not.
import type { Device, DType } from "@fuselens/compiler/aten/types";
import { FxGraph } from "@fuselens/compiler/fx/graph";
import type { BodyOps } from "@fuselens/compiler/inductor/ir/body_ops";
import { buildBody } from "@fuselens/compiler/inductor/ir/build_body";
import { targetByName } from "@fuselens/compiler/inductor/ir/target";
import { bodySizes, loopVars } from "@fuselens/compiler/inductor/ir/transform";
import type { Buffer, Layout, LoopsKind, LoweredGraph, Operation } from "@fuselens/compiler/inductor/ir/types";
import { schedule } from "@fuselens/compiler/inductor/scheduler/schedule";
import type { Schedule } from "@fuselens/compiler/inductor/scheduler/types";
import { type Expr, int, mul, type SymExpr, sym } from "@fuselens/compiler/inductor/symbolic/expr";
import { SizeVars } from "@fuselens/compiler/inductor/symbolic/size_vars";
import { defaultBehaviours, defaultConfig, type PresetName } from "@fuselens/compiler/presets";

const CUDA: Device = { type: "cuda", index: 0 };
type Size = number | Expr;
const expr = (s: Size): Expr => (typeof s === "number" ? int(s) : s);

export interface HandBuffer {
  readonly dtype: DType;
  readonly size: readonly Size[];
  readonly stride?: readonly Size[];
}

export interface HandOperation extends HandBuffer {
  /** name of the buffer it writes */
  readonly name: string;
  readonly iter: readonly Size[];
  readonly reduce?: readonly Size[];
  readonly kind?: LoopsKind;
  /** buffer whose storage it writes, for mutations */
  readonly target?: string;
  readonly run: <V>(ops: BodyOps<V>, i: readonly Expr[], r: readonly Expr[]) => void;
}

export interface HandGraph {
  readonly inputs: Readonly<Record<string, HandBuffer>>;
  readonly operations: readonly HandOperation[];
  readonly outputs?: readonly string[];
  readonly foreach?: readonly (readonly string[])[];
  /** sizes that are symbols, with example values */
  readonly symbols?: ReadonlyMap<SymExpr, number>;
  readonly fuse?: boolean;
  readonly preset?: PresetName;
}

export function sizeSymbol(name: string): SymExpr {
  return sym(name, { kind: "size", positive: true });
}

function layoutOf(b: HandBuffer, target?: string): Layout {
  const size = b.size.map(expr);
  const stride: Expr[] = b.stride?.map(expr) ?? [];
  if (!b.stride) {
    let step: Expr = int(1);
    for (const s of [...size].reverse()) {
      stride.unshift(step);
      step = mul(step, s);
    }
  }
  const base = { device: CUDA, dtype: b.dtype, size, stride, offset: int(0) };
  return target === undefined ? { kind: "fixed", ...base } : { kind: "mutation", ...base, target };
}

export function handSchedule(g: HandGraph): Schedule {
  const sizevars = new SizeVars();
  for (const [s, hint] of g.symbols ?? []) sizevars.shapeEnv.hints.set(s, hint);
  const buffers = new Map<string, Buffer>();
  const operations = g.operations.map((o, i): Operation => {
    const name = `op${i}`;
    buffers.set(o.name, {
      name: o.name,
      irClass: "ComputedBuffer",
      layout: layoutOf(o, o.target),
      operation: name,
      originNode: null,
    });
    const iterSizes = o.iter.map(expr);
    const reduceSizes = (o.reduce ?? []).map(expr);
    const [iter, reduce] = loopVars(iterSizes, reduceSizes);
    const body = buildBody(iter, iterSizes, reduce, reduceSizes, bodySizes(sizevars), ops => o.run(ops, iter, reduce));
    const reduction = body.block.nodes.find(n => n.op === "reduction");
    const kind: LoopsKind =
      o.kind ??
      (reduction?.op === "reduction"
        ? { kind: "Reduction", type: reduction.type, hint: "DEFAULT", srcDtype: reduction.srcDtype }
        : { kind: "Pointwise" });
    return {
      kind: "computed",
      name,
      outputs: [o.name],
      device: CUDA,
      origins: [],
      originNode: null,
      loops: kind,
      ranges: iterSizes,
      reductionRanges: reduceSizes,
      sizes: [iterSizes, reduceSizes],
      body,
    };
  });
  const outputs = g.outputs ?? g.operations.filter(o => o.target === undefined).map(o => o.name);
  const graph: LoweredGraph = {
    graph: new FxGraph(),
    kind: "inference",
    sizevars,
    inputs: [
      ...[...(g.symbols ?? [])].map(([s, hint]) => ({ name: `arg_${s.name}`, layout: null, symbol: s, hint })),
      ...Object.entries(g.inputs).map(([name, b]) => ({ name, layout: layoutOf(b) })),
    ],
    operations,
    buffers,
    constants: new Map(),
    outputs: outputs.map(buffer => ({ buffer, size: [], stride: [], offset: int(0), dtype: "float32", whole: true })),
    mutatedInputs: g.operations.flatMap(o => (o.target === undefined ? [] : [o.target])),
    donated: new Set(),
    foreachLists: g.foreach ?? [],
    symbols: [...(g.symbols ?? new Map<SymExpr, number>()).keys()],
  };
  const preset = g.preset ?? "torch-2.11";
  return schedule(graph, {
    config: defaultConfig(preset),
    behaviours: defaultBehaviours(preset),
    target: targetByName("h200"),
    wantDumps: false,
    fuse: g.fuse ?? true,
  });
}
