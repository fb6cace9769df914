// Whether V8 runs relaxed SIMD, and how to have it. In: this process's V8. Out: flags of a process that runs kernels.
import { setFlagsFromString } from "node:v8";

/** (func (param v128 v128 v128) (result v128) (f32x4.relaxed_madd ...)) */
const PROBE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 123, 123, 123, 1, 123, 3, 2, 1, 0, 10, 13, 1, 11, 0, 32, 0, 32, 1, 32, 2,
  253, 133, 2, 11,
]);

export const hasRelaxedSimd = (): boolean => WebAssembly.validate(PROBE);

/** flags of Node for a process of the same version; versions that have relaxed SIMD do not all know its flag */
export const executorFlags = (): string[] => (hasRelaxedSimd() ? [] : ["--experimental-wasm-relaxed-simd"]);

/**
 * From here on modules are compiled by the optimizing compiler alone. V8's baseline compiler runs a long first call of a
 * kernel at a seventh of its speed, and WebAssembly has no on-stack replacement. What was compiled before keeps both: the
 * assembler, whose first text would take five times as long, and what fills tensors.
 */
export function compileAtWholeSpeed(): void {
  setFlagsFromString("--no-liftoff");
}

const FORMS: Readonly<Record<string, (a: string, b: string, c: string) => string>> = {
  madd: (a, b, c) => `(f32x4.add (f32x4.mul ${a} ${b}) ${c})`,
  nmadd: (a, b, c) => `(f32x4.sub ${c} (f32x4.mul ${a} ${b}))`,
};
const FORM = "(f32x4.relaxed_";

/** a kernel's text without relaxed SIMD: what was fused rounds twice. Each expression stands on one line. */
export function withoutRelaxedSimd(text: string): string {
  return text.includes(FORM) ? text.split("\n").map(plainLine).join("\n") : text;
}

function plainLine(line0: string): string {
  let line = line0;
  if (line.trimStart().startsWith(";;")) return line;
  // the last one holds no other
  for (let at = line.lastIndexOf(FORM); at >= 0; at = line.lastIndexOf(FORM)) {
    let end = line.indexOf(" ", at);
    const form = FORMS[line.slice(at + FORM.length, end)];
    const operands: string[] = [];
    while (line[end] === " ") {
      const start = end + 1;
      end = endOfExpression(line, start);
      operands.push(line.slice(start, end));
    }
    const [a, b, c] = operands;
    if (!form || a === undefined || b === undefined || c === undefined) throw new Error(`not understood: ${line0}`);
    line = `${line.slice(0, at)}${form(a, b, c)}${line.slice(end + 1)}`;
  }
  return line;
}

function endOfExpression(line: string, start: number): number {
  let depth = 0;
  for (let at = start; at < line.length; at++) {
    const c = line[at];
    if (c === "(") depth++;
    else if (c === ")" && --depth <= 0) return depth < 0 ? at : at + 1;
    else if (c === " " && depth === 0) return at;
  }
  return line.length;
}
