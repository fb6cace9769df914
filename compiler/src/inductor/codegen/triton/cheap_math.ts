// Functions on the multiprocessors' exponential and reciprocal units, where libdevice's last bits would be lost anyway. In:
// a kernel and its handler. Out: a handler that writes these in place of the exact ones where they do. Promises: errors of
// 1e-6 at most where a half is stored; else a float32's last bit of the sum that the value goes into. Not Inductor's: the
// tail of our own products in half precision, and behaviour `cheap_math`.
import type { OpName } from "../../../aten/types";
import { operandsOf } from "../../ir/body_operands";
import type { BodyNode, LoopBody } from "../../ir/loop_body";
import type { BodyHandler } from "../../ir/run_body";
import type { CseVar } from "./cse";
import type { TritonKernel } from "./kernel";
import { has } from "./options";

const LOG2_E = "1.4426950408889634";

type Cheap = (x: CseVar) => CseVar;

function cheapFunctions(k: TritonKernel): Readonly<Partial<Record<OpName, Cheap>>> {
  const put = (text: string, like: CseVar): CseVar => k.value(text, "float32", like.shape);
  const signed = (r: CseVar, x: CseVar): CseVar => put(`tl.where(${x.name} < 0.0, -${r.name}, ${r.name})`, x);
  return {
    exp: x => put(`tl.exp2(${x.name} * ${LOG2_E})`, x),
    // tl.sigmoid has the same exponential and a division of full range
    sigmoid: x => put(`libdevice.fast_dividef(1.0, 1.0 + tl.exp2(${x.name} * -${LOG2_E}))`, x),
    // (1 - e) / (1 + e) with e = exp(-2|x|)
    tanh: x => {
      const e = put(`tl.exp2(tl.abs(${x.name}) * -2.8853900817779268)`, x);
      return signed(put(`(1.0 - ${e.name}) / (1.0 + ${e.name})`, x), x);
    },
    // Abramowitz and Stegun, 7.1.26: within 1.5e-7
    erf: x => {
      const t = put(`1.0 / (1.0 + 0.3275911 * tl.abs(${x.name}))`, x);
      const p = [1.421413741, -0.284496736, 0.254829592].reduce<CseVar>(
        (sum, c) => put(`${sum.name} * ${t.name} + ${c}`, x),
        put(`${t.name} * 1.061405429 + -1.453152027`, x),
      );
      const e = put(`tl.exp2(${x.name} * ${x.name} * -${LOG2_E})`, x);
      return signed(put(`1.0 - ${p.name} * ${t.name} * ${e.name}`, x), x);
    },
  };
}

/** `plain` with these functions where `applies` */
function withCheap(
  k: TritonKernel,
  plain: BodyHandler<CseVar>,
  applies: (fn: OpName, node: BodyNode) => boolean,
): BodyHandler<CseVar> {
  const cheap = cheapFunctions(k);
  return {
    ...plain,
    call: (fn, args, node) => {
      const [x] = args;
      const f = x?.dtype === "float32" && applies(fn, node) ? cheap[fn] : undefined;
      return f && x ? f(x) : plain.call(fn, args, node);
    },
  };
}

/** for a kernel all of whose results are stored in half precision; a product's tail keeps tl.sigmoid without the behaviour */
export const withHalfMath = (k: TritonKernel, plain: BodyHandler<CseVar>): BodyHandler<CseVar> =>
  withCheap(k, plain, fn => fn !== "sigmoid" || has(k.options, "cheap_math"));

/** for any other kernel: where a value is only added to what its error vanishes in; sigmoid is as good as tl.sigmoid anywhere */
export const withCheapMath = (k: TritonKernel, plain: BodyHandler<CseVar>): BodyHandler<CseVar> =>
  withCheap(k, plain, (fn, node) => fn === "sigmoid" || (k.node?.body != null && vanishes(k.node.body, node)));

/** the exponential of a softmax's sum, the same as that of its elements */
export const cheapExp = (k: TritonKernel, x: CseVar): CseVar | null =>
  k.spec.halves && has(k.options, "cheap_math") && x.dtype === "float32" ? (cheapFunctions(k).exp?.(x) ?? null) : null;

/** a value that is only added to a constant of a half or more */
function vanishes(body: LoopBody, node: BodyNode): boolean {
  const users = usersOf(body).get(node) ?? [];
  if (users.length === 0) return false;
  return users.every(
    u => u.op === "call" && u.fn === "add" && u.args.some(a => a.op === "constant" && Math.abs(Number(a.value)) >= 0.5),
  );
}

type Users = ReadonlyMap<BodyNode, readonly BodyNode[]>;
const usersByBody = new WeakMap<LoopBody, Users>();

function usersOf(body: LoopBody): Users {
  const known = usersByBody.get(body);
  if (known) return known;
  const users = new Map<BodyNode, readonly BodyNode[]>();
  for (const block of [body.block, ...body.subblocks.values()]) {
    for (const n of block.nodes) for (const x of operandsOf(n)) users.set(x, [...(users.get(x) ?? []), n]);
    // a masked block's value goes on outside of it
    if (block.result) users.set(block.result, [...(users.get(block.result) ?? []), block.result]);
  }
  usersByBody.set(body, users);
  return users;
}
