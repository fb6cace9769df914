// The words of inference: holes are parameters that nobody gave a value, choices are what could stand in them (plain data,
// so that they can be kept between edits), states are choices for all holes, failures say how far a state got.
import type { DType } from "../../aten/types";
import type { PyDict, Value } from "../objects/values";
import type { Usage } from "./choices/usage";

export type Choice =
  /** left to its default */
  | { readonly kind: "absent" }
  | { readonly kind: "none" }
  | { readonly kind: "number"; readonly value: number; readonly float: boolean }
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "str"; readonly value: string }
  | { readonly kind: "seq"; readonly items: readonly Choice[]; readonly tuple: boolean }
  | { readonly kind: "dict"; readonly entries: readonly (readonly [string, Choice])[] }
  /**
   * `filled`: what every element is, where the program asks for values (lengths); else nobody knows. `fixed`: of a tensor
   * that is written down, the dimensions whose sizes are
   */
  | {
      readonly kind: "tensor";
      readonly dtype: DType;
      readonly dims: readonly number[];
      readonly filled?: number;
      readonly fixed?: readonly number[];
      /** the class of a library that is not there, of which it stands for an object: what is read of that is an opaque operator */
      readonly library?: string;
    }
  /** an object that holds tensors and the like under its attributes, such as a graph or a sample of a data set */
  | { readonly kind: "record"; readonly entries: readonly (readonly [string, Choice])[] }
  /** a name of the function's globals, or one under torch: "torch.nn.GELU" */
  | { readonly kind: "named"; readonly path: string }
  /** a space of gym, of what an agent sees or does: numbers of this shape, or one of so many actions */
  | { readonly kind: "space"; readonly shape: readonly number[] | null; readonly actions: number }
  /** an object of a class of the function's globals, built like a root */
  | {
      readonly kind: "instance";
      readonly path: string;
      /** the function or classmethod of the program that makes it; else its constructor */
      readonly by?: string;
      /** the keywords that a configuration builds it with */
      readonly given?: readonly (readonly [string, Choice])[];
      /** arguments of its constructor that are not looked for */
      readonly fixed?: readonly (readonly [string, Choice])[];
    }
  /** an object that answers every attribute by its name, but those that are given */
  | { readonly kind: "object"; readonly given: readonly (readonly [string, Choice])[] }
  /** a module that gives back its first argument and answers every attribute by its name */
  | { readonly kind: "module" }
  /** the same, but what it gives back is scaled by a parameter: a stand-in that computes something */
  | { readonly kind: "scale" }
  /** gives back its first argument */
  | { readonly kind: "identity" }
  /** what nobody knows: its attributes are unknown too, and calls of it with tensors are opaque operators */
  | { readonly kind: "unknown" };

export type TensorChoice = Extract<Choice, { readonly kind: "tensor" }>;

export interface Hole {
  readonly name: string;
  /** as one line of text, "" for none */
  readonly annotation: string;
  readonly required: boolean;
  readonly keywordOnly: boolean;
  readonly usage: Usage;
  readonly fallback: Value | undefined;
  /** where names of its annotation and of its choices are looked up */
  readonly globals: PyDict;
  /** attributes of self that hold it */
  readonly selves: ReadonlySet<string>;
  /** attributes of self that hold something for each of its items, where it has none by default */
  readonly fills?: ReadonlySet<string>;
  /** what could stand in it, most plausible first */
  readonly choices: readonly Choice[];
  /** `*rest`: one more positional argument, where all before it are given */
  readonly rest?: true;
  /** the user wrote its value down: nothing but sizes that have names only is replaced in it */
  readonly written?: true;
}

/** a hole before anything is known that could stand in it */
export type Draft = Omit<Hole, "choices">;

export type State = ReadonlyMap<string, Choice>;

/** dimensions of a hole that get another size */
export interface Resize {
  readonly hole: string;
  readonly dims: readonly number[];
  readonly size: number;
}

/** a question about sizes that the run asked, with its answer and how many operators had run */
export interface Decision {
  readonly holds: boolean;
  readonly after: number;
  /** whether it would hold for a size of these dimensions, others being resized too; undefined: nobody can say */
  readonly along: (
    hole: string,
    dims: readonly number[],
    beside?: readonly Resize[],
  ) => (size: number) => boolean | undefined;
  /** numbers that it is about */
  readonly constants: readonly number[];
  /** hole dimensions that it depends on */
  readonly over: readonly { readonly hole: string; readonly dim: number }[];
}

export interface Failure {
  /** "model.py:12": where in the user's files; null: in none */
  readonly at: string | null;
  /** the innermost line that failed */
  readonly line: string;
  /** the innermost line of the user's own files, "" if none was running */
  readonly ownLine: string;
  /** a name and what the failing assertion wants it to be */
  readonly asserted: readonly [string, Choice] | null;
  /** two names that the failing assertion wants to be equal */
  readonly equal: readonly [string, string] | null;
  /** a name and the one that is to divide it */
  readonly divisible: readonly [string, string] | null;
  readonly type: string;
  readonly message: string;
  /** how far it got; more is better */
  readonly progress: number;
  /** operators that had run */
  readonly operators: number;
  readonly decisions: readonly Decision[];
  /** holes whose tensors the failing operator read, directly or through others */
  readonly touched: readonly string[];
  /** lines that were running, innermost first */
  readonly places: readonly { readonly file: unknown; readonly line: number }[];
  /** words of the lines that were running, innermost line first */
  readonly lines: readonly ReadonlySet<string>[];
}

export function stateKey(s: State): string {
  return JSON.stringify([...s]);
}

export function withChoice(s: State, hole: string, c: Choice): State {
  return new Map([...s, [hole, c]]);
}

export const tensor = (dtype: DType, dims: readonly number[]): TensorChoice => ({ kind: "tensor", dtype, dims });
export const number = (value: number, float = false): Choice => ({ kind: "number", value, float });
export const bool = (value: boolean): Choice => ({ kind: "bool", value });
export const str = (value: string): Choice => ({ kind: "str", value });
export const named = (path: string): Choice => ({ kind: "named", path });
export const instance = (path: string): Choice => ({ kind: "instance", path });
export const NONE: Choice = { kind: "none" };
export const OBJECT: Choice = { kind: "object", given: [] };
export const MODULE: Choice = { kind: "module" };
export const IDENTITY: Choice = { kind: "identity" };
export const UNKNOWN: Choice = { kind: "unknown" };
export const ABSENT: Choice = { kind: "absent" };

export function distinct(choices: readonly Choice[]): Choice[] {
  const seen = new Set<string>();
  return choices.filter(c => {
    const key = JSON.stringify(c);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** "dir/file.py::Name", a class that the function's own file doesn't know, as "Name (file.py)"; other names as they are */
function spoken(path: string): string {
  const [, file, name] = /^(?:.*[\\/])?(.*)::(\w+)$/.exec(path) ?? [];
  return name === undefined ? (path.split(":").pop() ?? path) : `${name} (${file})`;
}

/** what stands in the holes that are not left to their defaults: "x is float32[2, 3, 224, 224]" */
export function described(holes: readonly Hole[], s: State): string[] {
  return holes.flatMap(h => {
    const c = s.get(h.name) ?? ABSENT;
    return c.kind === "absent" ? [] : [`${h.name} is ${choiceText(c)}`];
  });
}

/** "float32[2, 3, 224, 224]" */
export function choiceText(c: Choice): string {
  switch (c.kind) {
    case "absent":
      return "its default";
    case "none":
      return "None";
    case "number":
      return String(c.value);
    case "bool":
      return c.value ? "True" : "False";
    case "str":
      return JSON.stringify(c.value);
    case "seq":
      return `${c.tuple ? "(" : "["}${c.items.map(choiceText).join(", ")}${c.tuple ? ")" : "]"}`;
    case "dict":
      return `{${c.entries.map(([k, v]) => `${JSON.stringify(k)}: ${choiceText(v)}`).join(", ")}}`;
    case "record":
      return `an object with ${c.entries.map(([k, v]) => `${k} ${choiceText(v)}`).join(", ")}`;
    case "tensor": {
      const text = `${c.dtype}[${c.dims.join(", ")}]${c.filled === undefined ? "" : ` of ${c.filled}`}`;
      return c.library === undefined ? text : `an object of ${c.library} like ${text}`;
    }
    case "named":
      return c.path;
    case "space":
      return c.shape === null ? `Discrete(${c.actions})` : `Box(${c.shape.join(", ")})`;
    case "instance":
      if (c.given) return `a ${spoken(c.path)} as configured`;
      if (c.fixed) return `a ${spoken(c.path)} with ${c.fixed.map(([k, v]) => `${k} ${choiceText(v)}`).join(", ")}`;
      return c.by === undefined ? `a ${spoken(c.path)}` : `a ${spoken(c.path)} of ${c.by}()`;
    case "object":
      return `an object with plausible attributes${c.given.map(([k, v]) => `, ${k} ${choiceText(v)}`).join("")}`;
    case "module":
      return "a module that changes nothing";
    case "scale":
      return "a module that scales its input";
    case "identity":
      return "a function that gives back its argument";
    case "unknown":
      return "what nobody knows";
    default:
      return c satisfies never;
  }
}
