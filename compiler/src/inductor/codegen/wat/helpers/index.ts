// Functions that a kernel's text may call; only those used are written into it. Transcendental functions compute in f64
// and round once, which keeps f32 results within one ulp; those over vectors stay in f32 and within two.
import type { Helper } from "./dsl";
import { EXPONENTIAL } from "./exponential";
import { INTEGERS } from "./integers";
import { RUNTIME } from "./runtime";
import { SMALL_FLOATS } from "./small_floats";
import { SPECIAL } from "./special";
import { TRANSPOSE } from "./transpose";
import { TRIGONOMETRIC } from "./trigonometric";
import { VECTOR_FALLBACKS } from "./vector_functions";

const HELPERS = {
  ...EXPONENTIAL,
  ...TRIGONOMETRIC,
  ...SPECIAL,
  ...INTEGERS,
  ...SMALL_FLOATS,
  ...RUNTIME,
  ...VECTOR_FALLBACKS,
  ...TRANSPOSE,
};

export type HelperName = keyof typeof HELPERS;

/** The texts of the named helpers and of what they call, each once, callees first. */
export function helperTexts(names: Iterable<HelperName>): string[] {
  const out: string[] = [];
  const done = new Set<string>();
  const visit = (name: HelperName): void => {
    if (done.has(name)) return;
    done.add(name);
    const helper: Helper = HELPERS[name];
    for (const u of helper.uses ?? []) visit(u as HelperName);
    out.push(helper.text);
  };
  for (const n of names) visit(n);
  return out;
}
