// The last resort for a parameter: a value that nobody knows, whose calls are opaque operators. In: the hole, what stands in it,
// the error that blames it. Out: choices to try before all others, none where the error asks for a number, a text or a tensor.
import { missingKey } from "../search/failure";
import { type Choice, type Failure, type Hole, UNKNOWN } from "../types";

/** errors of what is taken for an object, a function or a list and is none */
const OF_OBJECTS =
  /object has no attribute|is not callable|is not iterable|is not subscriptable|has no len|can't be made|argument after \*|is not a Module subclass|is missing the required "forward"|cannot unpack non-iterable|unexpected keyword argument|positional arguments? but/;

/** methods that only tensors have: what lacks them should have been one */
const OF_TENSORS =
  /has no attribute '(shape|size|dim|view|permute|transpose|unsqueeze|float|detach|dtype|ndim|device)'/;

export function unknowable(h: Hole, now: Choice, f: Failure): Choice[] {
  if (now.kind === "unknown" || h.written || OF_TENSORS.test(f.message)) return [];
  // a dictionary that lacks a key gets it
  const key = missingKey(f);
  if (key !== undefined && now.kind === "dict" && !now.entries.some(([k]) => k === key)) return [];
  const asked = OF_OBJECTS.test(f.message) || f.type === "KeyError" || f.type === "AssertionError";
  if (!asked || (h.usage.arithmetic && !h.usage.called)) return [];
  // parts of a configuration that the failing lines name
  const own = now.kind === "dict" ? now.entries : now.kind === "object" ? now.given : [];
  const parts = own.filter(([name, c]) => c.kind !== "unknown" && f.lines.slice(0, 3).some(words => words.has(name)));
  const within = parts.map(([name]): Choice => {
    const entries = own.map(([k, c]) => [k, k === name ? UNKNOWN : c] as const);
    return now.kind === "dict" ? { ...now, entries } : { kind: "object", given: entries };
  });
  return [...within, UNKNOWN];
}
