import { describe, expect, it } from "vitest";
import { aotCompile } from "../aot/compile";
import { type Program, programFrame } from "../aot/testing/program";
import { argumentText, targetText } from "../fx/print";
import { postGrad } from "./post_grad";

/** the calls of a program's graph after the rules, as "name = op(arguments)" */
function calls(p: Program): string[] {
  const frame = programFrame(p);
  const r = aotCompile(frame, {});
  if (r.kind !== "inference") throw new Error(r.kind);
  const { graph } = r.compiled;
  postGrad(graph, { info: r.compiled, shapeEnv: frame.shapeEnv, config: new Map() });
  return graph.nodes
    .filter(n => n.op === "call_function")
    .map(n => `${n.name} = ${targetText(n.target)}(${n.args.map(argumentText).join(", ")})`);
}

describe("a product and a sum", () => {
  it("of two products that are added, the second takes the first as its bias", () => {
    const square = "f32[64, 64][64, 1]cuda:0";
    const inputs = { a: square, b: square, c: square };
    expect(calls({ inputs, body: "p = a @ b\nq = a @ c\ns = p + q\nr = s @ b\nreturn (r,)" }).slice(0, 2)).toEqual([
      "mm = torch.ops.aten.mm.default(arg0_1, arg1_1)",
      "addmm_default = torch.ops.aten.addmm.default(mm, arg0_1, arg2_1)",
    ]);
  });
});
