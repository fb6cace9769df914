// Code actions in an editor's words: edits as text at lines, commands by name. In: a program, its text, a line range.
// Out: what may be offered there; the LSP layer decides what the client asked for.
import type { ReportRoot } from "@fuselens/compiler";
import { entriesByLine, kernelsOf, refusalsOf, rootAt } from "./lookup";
import type { EditorProgram } from "./model";

export interface ActionEdit {
  /** 1-based; text goes in front of `column` (0-based, UTF-16) and replaces what `endColumn` closes */
  readonly line: number;
  readonly column: number;
  readonly endColumn: number;
  readonly text: string;
}

export interface Action {
  readonly title: string;
  readonly kind: "quickfix" | "refactor.rewrite" | "source";
  readonly edits?: readonly ActionEdit[];
  readonly command?: { readonly name: string; readonly argument: Readonly<Record<string, unknown>> };
  /** codes of the problems that it is an answer to */
  readonly solves: readonly string[];
}

/** options whose other value may let a refused pair fuse; names of torch._inductor.config */
const OPTIONS: Readonly<Record<string, readonly (readonly [option: string, value: boolean])[]>> = {
  no_shared_data: [["loop_ordering_after_fusion", true]],
  memory_deps_did_not_match: [["loop_ordering_after_fusion", true]],
  numel_rnumel_mismatch_reduce: [
    ["triton.mix_order_reduction", true],
    ["triton.nested_reduction", true],
  ],
  numel_rnumel_mismatch_pointwise: [["combo_kernels", true]],
  nodes_numel_incompatibility: [["combo_kernels", true]],
  tiling_prevents_reduction_fusion: [["triton.tiling_prevents_reduction_fusion", false]],
  tiling_mismatch: [["triton.tiling_prevents_pointwise_fusion", false]],
  extern_kernel: [["max_autotune", true]],
  score_fusion_memory_threshold: [["aggressive_fusion", true]],
};

/** what the preset switches on, and is worth seeing off wherever several kernels stand */
const SWITCHES = ["loop_ordering_after_fusion", "triton.mix_order_reduction", "epilogue_fusion"] as const;

export interface ActionRange {
  readonly first: number;
  readonly last: number;
}

export function actionsAt(
  program: EditorProgram,
  file: string,
  lines: readonly string[],
  range: ActionRange,
  options: { readonly config: Readonly<Record<string, unknown>> },
): Action[] {
  const root = rootAt(program, range.first) ?? decoratedRoot(program, lines, range.first);
  const out: Action[] = [];
  const index = entriesByLine(program, file);
  const kernels = kernelsOf(linesOf(range).flatMap(l => index.get(l) ?? []));
  const refusals = refusalsOf(program, kernels);
  if (refusals.length) {
    out.push({
      title: `Show why ${refusals.length === 1 ? "it is" : "they are"} not fused`,
      kind: "source",
      command: { name: "fuselens.showReasons", argument: { lines: [range.first, range.last] } },
      solves: refusals.map(r => r.code),
    });
  }
  const offered = new Set<string>();
  for (const r of refusals) {
    for (const [option, value] of OPTIONS[r.code] ?? []) {
      if (offered.has(option) || options.config[option] === value) continue;
      offered.add(option);
      out.push(compare(root, option, value, [r.code]));
    }
  }
  if (kernels.length > 1) {
    for (const option of SWITCHES) if (!offered.has(option)) out.push(compare(root, option, false, []));
  }
  if (root) {
    const set = exampleInputs(program, root, lines);
    if (set) out.push(set);
    out.push(...markDynamic(root, lines));
  }
  return out;
}

function linesOf(range: ActionRange): number[] {
  return Array.from({ length: Math.max(1, range.last - range.first + 1) }, (_, i) => range.first + i);
}

function compare(root: ReportRoot | undefined, option: string, value: boolean, solves: readonly string[]): Action {
  return {
    title: `Compare with ${option} ${value ? "on" : "off"}`,
    kind: "source",
    command: { name: "fuselens.compare", argument: { root: root?.name, config: { [option]: value } } },
    solves,
  };
}

/** the decorator's line belongs to the function below it */
function decoratedRoot(program: EditorProgram, lines: readonly string[], line: number): ReportRoot | undefined {
  for (let below = line; below <= lines.length && /^\s*(@|#|$)/.test(lines[below - 1] ?? ""); below++) {
    const found = program.roots.find(r => r.span.line === below + 1);
    if (found) return found;
  }
  return undefined;
}

/** Parameter names of `def NAME(...)` at a line, without self, defaults and annotations; null where none stands there. */
export function parametersOf(
  lines: readonly string[],
  line: number,
): { readonly name: string; readonly parameters: string[]; readonly line: number } | null {
  for (let at = line; at <= Math.min(lines.length, line + 20); at++) {
    const head = /^\s*(?:async\s+)?def\s+(\w+)\s*\(/.exec(lines[at - 1] ?? "");
    if (!head) continue;
    const text = lines
      .slice(at - 1, at + 30)
      .join("\n")
      .slice(head[0].length);
    const parameters: string[] = [];
    let depth = 0;
    let word = "";
    for (const c of text) {
      if (c === ")" && depth === 0) break;
      if ("([{".includes(c)) depth++;
      else if (")]}".includes(c)) depth--;
      if (c === "," && depth === 0) {
        parameters.push(word);
        word = "";
      } else word += c;
    }
    parameters.push(word);
    const names = parameters
      .map(p => /^\s*(\*{0,2}\w+)/.exec(p)?.[1] ?? "")
      .filter(n => /^\w+$/.test(n) && n !== "self");
    return { name: head[1] ?? "", parameters: names, line: at };
  }
  return null;
}

/** Writes the example inputs that the analysis took as a comment above the function, ready to be changed. */
function exampleInputs(program: EditorProgram, root: ReportRoot, lines: readonly string[]): Action | null {
  const written = exampleComment(program, root, lines);
  if (!written) return null;
  return {
    title: written.replaces ? `Change example inputs of ${root.name}` : `Set example inputs of ${root.name}`,
    kind: root.assumed.length ? "quickfix" : "refactor.rewrite",
    edits: [written.edit],
    solves: ["assumed"],
  };
}

export interface ExampleComment {
  readonly edit: ActionEdit;
  readonly text: string;
  readonly replaces: boolean;
}

/** The comment for given inputs ("x=f32[8, 128]@cuda"), or for the ones that the analysis took. */
export function exampleComment(
  program: EditorProgram,
  root: ReportRoot,
  lines: readonly string[],
  given?: string,
): ExampleComment | null {
  const definition = parametersOf(lines, root.span.line);
  if (!definition) return null;
  const text = `# fuselens: ${given ?? guessedInputs(program, root, definition.parameters)}`;
  // above the decorators, where it reads as a comment on the function
  let first = definition.line;
  while (first > 1 && /^\s*@/.test(lines[first - 2] ?? "")) first--;
  const indent = /^\s*/.exec(lines[first - 1] ?? "")?.[0] ?? "";
  const above = lines[first - 2] ?? "";
  if (/^\s*#\s*fuselens:/.test(above)) {
    const column = above.length - above.trimStart().length;
    return { edit: { line: first - 1, column, endColumn: above.length, text }, text, replaces: true };
  }
  return { edit: { line: first, column: 0, endColumn: 0, text: `${indent}${text}\n` }, text, replaces: false };
}

const SHORT: Readonly<Record<string, string>> = {
  "torch.float32": "f32",
  "torch.float64": "f64",
  "torch.float16": "f16",
  "torch.bfloat16": "bf16",
  "torch.int64": "i64",
  "torch.int32": "i32",
  "torch.bool": "b8",
};

/** "x=f32[8, 128]@cuda, y=..." from the graph's inputs that are no parameters of the model */
export function guessedInputs(program: EditorProgram, root: ReportRoot, parameters: readonly string[]): string {
  const graph = program.compilations[root.compilations[0] ?? -1]?.graph;
  const inputs = graph?.inputs ?? [];
  // a module's weights come first among a graph's inputs; its arguments are the last ones
  const own = inputs.slice(Math.max(0, inputs.length - parameters.length));
  return parameters
    .map((name, i) => {
      const t = own[i - (parameters.length - own.length)];
      const shape = t ? t.shape.join(", ") : "8, 128";
      return `${name}=${SHORT[t?.dtype ?? ""] ?? "f32"}[${shape}]@cuda`;
    })
    .join(", ");
}

function markDynamic(root: ReportRoot, lines: readonly string[]): Action[] {
  const definition = parametersOf(lines, root.span.line);
  const out: Action[] = [];
  for (let at = root.span.line; at >= 1 && at >= root.span.line - 4; at--) {
    const text = lines[at - 1] ?? "";
    const decorator = /@torch\.compile(\(([^()]*)\))?\s*$/.exec(text);
    if (!decorator || /\bdynamic\s*=/.test(text)) continue;
    const args = decorator[2]?.trim() ?? "";
    const column = decorator.index;
    out.push({
      title: `Mark ${root.name} dynamic (dynamic=True)`,
      kind: "refactor.rewrite",
      edits: [
        {
          line: at,
          column,
          endColumn: column + decorator[0].trimEnd().length,
          text: `@torch.compile(${args ? `${args}, ` : ""}dynamic=True)`,
        },
      ],
      solves: ["recompile"],
    });
    break;
  }
  const [first] = definition?.parameters ?? [];
  const callee = definition?.name ?? root.name;
  const call = lines.findIndex(l => new RegExp(`^\\s*(?:[\\w, ]+=\\s*)?${callee}\\((\\w+)`).test(l));
  const argument = call < 0 ? undefined : new RegExp(`${callee}\\((\\w+)`).exec(lines[call] ?? "")?.[1];
  if (first !== undefined && argument !== undefined && /^[A-Za-z_]/.test(argument)) {
    const indent = /^\s*/.exec(lines[call] ?? "")?.[0] ?? "";
    out.push({
      title: `Mark the first size of ${argument} dynamic`,
      kind: "refactor.rewrite",
      edits: [
        { line: call + 1, column: 0, endColumn: 0, text: `${indent}torch._dynamo.mark_dynamic(${argument}, 0)\n` },
      ],
      solves: ["recompile"],
    });
  }
  return out;
}
