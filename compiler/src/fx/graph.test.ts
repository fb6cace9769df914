import { expect, test } from "vitest";
import { FxGraph, type FxNode } from "./graph";

const meta = () => ({ stack: [], fromNode: [] });
const call = (g: FxGraph, args: readonly FxNode[], before?: FxNode): FxNode =>
  g.create("call_function", "aten.add.Tensor", args, new Map(), meta(), before ? { before } : {});

test("a node's position is found after others were put in, dropped and moved", () => {
  const g = new FxGraph();
  const x = g.create("placeholder", "x", [], new Map(), meta());
  const nodes = Array.from({ length: 20 }, () => call(g, [x]));
  const late = nodes[15] as FxNode;
  for (let i = 0; i < 8; i++) call(g, [x], nodes[i]);
  g.erase(nodes[3] as FxNode);
  expect(g.nodes.map(n => g.indexOf(n))).toEqual(g.nodes.map((_, i) => i));
  g.reorder([...g.nodes].reverse());
  expect(g.indexOf(late)).toBe(g.nodes.indexOf(late));
});

test("a node that was dropped, or is of another graph, has no position", () => {
  const [g, other] = [new FxGraph(), new FxGraph()];
  const x = g.create("placeholder", "x", [], new Map(), meta());
  const y = call(g, [x]);
  expect(g.has(y)).toBe(true);
  expect(other.has(y)).toBe(false);
  expect(other.indexOf(y)).toBe(-1);
  g.eliminateDeadCode(() => false);
  expect([g.has(y), g.indexOf(y), g.indexOf(x)]).toEqual([false, -1, 0]);
});
