// Functions at the end of a matrix product whose results are stored in half precision. libdevice's are good to a float32's
// last bits and cost as much as the product's own tail; these are good to some 1e-6, a hundredth of what storing a half
// loses, on the multiprocessors' exponential and reciprocal units. In: a kernel. Out: the handler with these in place.
import type { BodyHandler } from "../../ir/run_body";
import type { CseVar } from "./cse";
import type { TritonKernel } from "./kernel";

const LOG2_E = "1.4426950408889634";

export function withHalfMath(k: TritonKernel, plain: BodyHandler<CseVar>): BodyHandler<CseVar> {
  const put = (text: string, like: CseVar): CseVar => k.value(text, "float32", like.shape);
  const signed = (r: CseVar, x: CseVar): CseVar => put(`tl.where(${x.name} < 0.0, -${r.name}, ${r.name})`, x);
  const exp = (x: CseVar): CseVar => put(`tl.exp2(${x.name} * ${LOG2_E})`, x);

  /** (1 - e) / (1 + e) with e = exp(-2|x|) */
  const tanh = (x: CseVar): CseVar => {
    const e = put(`tl.exp2(tl.abs(${x.name}) * -2.8853900817779268)`, x);
    return signed(put(`(1.0 - ${e.name}) / (1.0 + ${e.name})`, x), x);
  };

  /** Abramowitz and Stegun, 7.1.26: within 1.5e-7 */
  const erf = (x: CseVar): CseVar => {
    const t = put(`1.0 / (1.0 + 0.3275911 * tl.abs(${x.name}))`, x);
    const p = [1.421413741, -0.284496736, 0.254829592].reduce<CseVar>(
      (sum, c) => put(`${sum.name} * ${t.name} + ${c}`, x),
      put(`${t.name} * 1.061405429 + -1.453152027`, x),
    );
    const e = put(`tl.exp2(${x.name} * ${x.name} * -${LOG2_E})`, x);
    return signed(put(`1.0 - ${p.name} * ${t.name} * ${e.name}`, x), x);
  };

  return {
    ...plain,
    call: (fn, args) => {
      const [x] = args;
      if (x?.dtype !== "float32") return plain.call(fn, args);
      switch (fn) {
        case "exp":
          return exp(x);
        case "tanh":
          return tanh(x);
        case "erf":
          return erf(x);
        default:
          return plain.call(fn, args);
      }
    },
  };
}
