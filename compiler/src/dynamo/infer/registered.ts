// Classes and functions that a registry of the program has not got, since nothing has imported the file that registers them.
// In: a failure that names one. Out: whether such a file was found and imported, so that the run is worth another try.
import type { InferContext } from "./context";
import { quotedNames } from "./search/failure";
import type { Failure } from "./types";

const tried = new WeakMap<InferContext, Set<string>>();

/** imports the nearest file of the project that registers what a failing lookup names, once */
export function importRegistered(ctx: InferContext, f: Failure): boolean {
  if (f.type !== "KeyError") return false;
  const before = tried.get(ctx) ?? new Set<string>();
  tried.set(ctx, before);
  for (const name of quotedNames(f.message)) {
    if (before.has(name)) continue;
    before.add(name);
    const path = ctx.constants.registering(name)[0];
    if (path !== undefined && ctx.load(path)) return true;
  }
  return false;
}
