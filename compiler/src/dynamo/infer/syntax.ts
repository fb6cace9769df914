// Small questions about syntax. In: a tree, or the text of an annotation. Out: the name, text or number that it spells, its
// parts, its definitions.
import type * as ast from "../../python/ast";

/** "nn.functional.relu"; undefined for anything but names joined by dots */
export function dotted(e: ast.Expr): string | undefined {
  if (e.kind === "Name") return e.id;
  if (e.kind !== "Attribute") return undefined;
  const base = dotted(e.value);
  return base === undefined ? undefined : `${base}.${e.attr}`;
}

export function stringOf(e: ast.Expr | undefined): string | undefined {
  return e?.kind === "Constant" && e.value.type === "str" ? e.value.value : undefined;
}

export function intOf(e: ast.Expr | undefined): number | undefined {
  if (e?.kind === "UnaryOp" && e.op === "-") {
    const n = intOf(e.operand);
    return n === undefined ? undefined : -n;
  }
  return e?.kind === "Constant" && e.value.type === "int" ? Number(e.value.value) : undefined;
}

/** an annotation as one line of text: "Optional[List[Tensor]]", "int | None"; quoted ones are opened */
export function annotationText(a: ast.Expr | null): string {
  if (!a) return "";
  switch (a.kind) {
    case "Name":
      return a.id;
    case "Attribute":
      return a.attr;
    case "Subscript":
      return `${annotationText(a.value)}[${annotationText(a.slice)}]`;
    case "Tuple":
    case "List":
      return a.elts.map(annotationText).join(",");
    case "BinOp":
      return `${annotationText(a.left)}|${annotationText(a.right)}`;
    case "Constant":
      if (a.value.type === "str") return a.value.value.replace(/\b\w+\./g, "").replace(/\s+/g, "");
      return a.value.type === "int" ? String(a.value.value) : a.value.type;
    default:
      return "";
  }
}

/** the alternatives of "Optional[int]", "Union[int, str]", "int | None" */
export function alternatives(text: string): string[] {
  const t = text.replace(/^typing\./, "");
  const m = /^(Optional|Union|Annotated|Final|ClassVar|Required)\[(.*)\]$/.exec(t);
  const parts = m ? splitTop(m[2] ?? "", ",") : splitTop(t, "|");
  if (m?.[1] === "Annotated") parts.length = 1;
  if (!m && parts.length <= 1) return t === "None" || t === "NoneType" ? [] : [t];
  return parts.flatMap(alternatives);
}

/** split where no bracket is open */
export function splitTop(s: string, by: string): string[] {
  const out: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= s.length; i++) {
    const c = s[i];
    if (c === "[" || c === "(") depth++;
    else if (c === "]" || c === ")") depth--;
    else if (c === undefined || (c === by && depth === 0)) {
      out.push(s.slice(start, i).trim());
      start = i + 1;
    }
  }
  return out.filter(p => p !== "");
}

/** the parameters of a signature, but * and **, with their defaults */
export function parametersOf(a: ast.Arguments): { readonly name: string; readonly fallback: ast.Expr | null }[] {
  const positional = [...a.posonlyargs, ...a.args];
  const without = positional.length - a.defaults.length;
  return [
    ...positional.map(({ arg }, i) => ({ name: arg, fallback: a.defaults[i - without] ?? null })),
    ...a.kwonlyargs.map(({ arg }, i) => ({ name: arg, fallback: a.kwDefaults[i] ?? null })),
  ];
}

/** the last definition of a method: the one that counts */
export function definedMethod(cls: ast.ClassDef, name: string): ast.FunctionDef | undefined {
  const found = cls.body.filter(s => s.kind === "FunctionDef" && s.name === name).pop();
  return found?.kind === "FunctionDef" ? found : undefined;
}

/** the definitions of a module, in its conditions, try and with blocks too */
export function definitionsIn(module: ast.Module): (ast.ClassDef | ast.FunctionDef)[] {
  const own: (ast.ClassDef | ast.FunctionDef)[] = [];
  const nested: (ast.ClassDef | ast.FunctionDef)[] = [];
  const visit = (body: readonly ast.Stmt[], to: typeof own): void => {
    for (const s of body) {
      if (s.kind === "ClassDef" || s.kind === "FunctionDef") to.push(s);
      else for (const block of blocksOf(s)) visit(block, nested);
    }
  };
  visit(module.body, own);
  return [...own, ...nested];
}

function blocksOf(s: ast.Stmt): (readonly ast.Stmt[])[] {
  if (s.kind === "If") return [s.body, s.orelse];
  if (s.kind === "With") return [s.body];
  return s.kind === "Try" ? [s.body, ...s.handlers.map(h => h.body), s.orelse, s.finalbody] : [];
}
