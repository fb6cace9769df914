// Code actions in an editor's words: edits as text at lines, commands by name. In: a program, its text, a line range.
// Out: what may be offered there; the LSP layer decides what the client asked for.
import type { ReportRoot } from "@fuselens/compiler";
import { type ActionEdit, definitionOf, exampleComment } from "./example_inputs";
import { entriesByLine, kernelsOf, refusalsOf, rootAt } from "./lookup";
import type { EditorProgram } from "./model";

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
    const set = exampleInputs(root, lines);
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

/** Writes the example inputs that the analysis took as a comment above the function, ready to be changed. */
function exampleInputs(root: ReportRoot, lines: readonly string[]): Action | null {
  const written = exampleComment(root, lines);
  if (!written) return null;
  return {
    title: written.replaces ? `Change example inputs of ${root.name}` : `Set example inputs of ${root.name}`,
    kind: root.assumed.length ? "quickfix" : "refactor.rewrite",
    edits: [written.edit],
    solves: ["assumed"],
  };
}

function markDynamic(root: ReportRoot, lines: readonly string[]): Action[] {
  const definition = definitionOf(lines, root.span);
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
