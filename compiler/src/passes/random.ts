// Random numbers as seeds and generators that kernels evaluate (fx_passes/replace_random.py). In: aten.rand and its
// kind. Out: prims.inductor_random over lookups in one tensor of seeds per device. Promises: same order of seeds as
// the operators stood in.
import { DeviceArg, DTypeArg } from "../aten/types";
import type { FxNode } from "../fx/graph";
import type { Argument, FakeTensor } from "../fx/types";
import { int } from "../inductor/symbolic/expr";
import { type Rewriter, replaceNode } from "./edit";
import type { Rule } from "./rules";

const SEED = "prims.inductor_seed.default";

function deviceOf(rw: Rewriter, node: FxNode): DeviceArg {
  const given = node.kwargs.get("device");
  if (given instanceof DeviceArg) return given;
  return new DeviceArg(rw.tensor(node)?.device ?? { type: "cpu", index: null });
}

function makeSeed(rw: Rewriter, node: FxNode): FxNode {
  const device = deviceOf(rw, node);
  const val: FakeTensor = {
    shape: [],
    stride: [],
    storageOffset: int(0),
    dtype: "int64",
    device: { ...device.device, index: device.device.index ?? rw.tensor(node)?.device.index ?? null },
    requiresGrad: false,
  };
  return rw.node(SEED, [device], new Map(), val, { before: node, like: node });
}

const generatorFree = (n: FxNode): boolean => !n.kwargs.get("generator");

export const RANDOM_RULES: readonly Rule[] = [
  {
    name: "replace_random",
    targets: ["aten.rand.default", "aten.rand.generator", "aten.randn.default", "aten.randn.generator"],
    apply: (rw, node) => {
      const t = rw.tensor(node);
      if (rw.config("fallback_random") === true || t === undefined || t.device.type === "cpu" || !generatorFree(node))
        return false;
      const mode = node.target.startsWith("aten.randn") ? "randn" : "rand";
      const seed = makeSeed(rw, node);
      const random = rw.node(
        "prims.inductor_random.default",
        [node.args[0] as Argument, seed, mode],
        new Map(),
        { ...t, dtype: "float32" },
        { before: node, like: node },
      );
      const wanted = node.kwargs.get("dtype");
      const result =
        wanted instanceof DTypeArg && wanted.dtype !== "float32"
          ? rw.call("prims.convert_element_type.default", [random, wanted], {}, { before: node, like: node })
          : random;
      replaceNode(rw.graph, node, result);
      return true;
    },
  },
  {
    name: "replace_randint",
    targets: ["aten.randint.default", "aten.randint.low"],
    apply: (rw, node) => {
      const t = rw.tensor(node);
      if (rw.config("fallback_random") === true || t === undefined || t.device.type === "cpu" || !generatorFree(node))
        return false;
      const [low, high, size] =
        node.target === "aten.randint.low" ? node.args : [0, node.args[0] as Argument, node.args[1] as Argument];
      const seed = makeSeed(rw, node);
      const random = rw.node(
        "prims.inductor_randint.default",
        [low as Argument, high as Argument, size as Argument, seed],
        new Map(),
        { ...t, dtype: "int64" },
        { before: node, like: node },
      );
      const result =
        t.dtype === "int64"
          ? random
          : rw.call(
              "prims.convert_element_type.default",
              [random, new DTypeArg(t.dtype)],
              {},
              { before: node, like: node },
            );
      replaceNode(rw.graph, node, result);
      return true;
    },
  },
];

/** one tensor of seeds per device instead of a seed per operator */
export function fuseSeeds(rw: Rewriter): void {
  const byDevice = new Map<string, FxNode[]>();
  for (const n of rw.graph.nodes) {
    if (n.target !== SEED) continue;
    const d = n.args[0] instanceof DeviceArg ? `${n.args[0].device.type}:${n.args[0].device.index}` : "";
    byDevice.set(d, [...(byDevice.get(d) ?? []), n]);
  }
  for (const seeds of byDevice.values()) {
    const [first] = seeds;
    const t = first && rw.tensor(first);
    if (first === undefined || t === undefined) continue;
    const val: FakeTensor = { ...t, shape: [int(seeds.length)], stride: [int(1)] };
    const all = rw.node("prims.inductor_seeds.default", [seeds.length, first.args[0] as Argument], new Map(), val, {
      before: first,
    });
    for (const [i, seed] of seeds.entries()) {
      const lookup = rw.node("prims.inductor_lookup_seed.default", [all, i], new Map(), t, {
        before: seed,
        like: seed,
      });
      replaceNode(rw.graph, seed, lookup);
    }
  }
}
