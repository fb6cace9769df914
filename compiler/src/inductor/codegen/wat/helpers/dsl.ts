// Short forms for the helpers' texts: f64 arithmetic and polynomials.

export interface Helper {
  readonly text: string;
  /** helpers that it calls */
  readonly uses?: readonly string[];
}

export const c = (x: number): string => `(f64.const ${Number.isFinite(x) ? x : x > 0 ? "inf" : "-inf"})`;
export const mul = (a: string, b: string): string => `(f64.mul ${a} ${b})`;
export const add = (a: string, b: string): string => `(f64.add ${a} ${b})`;
export const sub = (a: string, b: string): string => `(f64.sub ${a} ${b})`;
export const div = (a: string, b: string): string => `(f64.div ${a} ${b})`;
export const abs = (a: string): string => `(f64.abs ${a})`;
export const get = (name: string): string => `(local.get $${name})`;
export const set = (name: string, x: string): string => `(local.set $${name} ${x})`;
export const give = (condition: string, x: string): string => `(if ${condition} (then (return ${x})))`;

/** Horner form, lowest coefficient first */
export function polynomial(coefficients: readonly number[], x: string): string {
  return coefficients.reduceRight((sum, a) => (sum === "" ? c(a) : add(c(a), mul(x, sum))), "");
}

/** 1/from!, 1/(from+step)!, ... */
export function factorials(count: number, from: number, step: number, alternate: boolean): number[] {
  const out: number[] = [];
  let f = 1;
  for (let i = 2; i <= from; i++) f *= i;
  for (let k = 0, n = from; k < count; k++) {
    out.push((alternate && k % 2 ? -1 : 1) / f);
    for (let s = 1; s <= step; s++) f *= n + s;
    n += step;
  }
  return out;
}

/** a function of one f64 */
export const unary = (name: string, body: string, locals = ""): string =>
  `(func $${name} (param $x f64) (result f64) ${locals}\n    ${body})`;
