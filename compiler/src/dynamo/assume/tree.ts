// Signatures for what is inferred of code that does not run. In: syntax trees. Out: annotations, parameters, methods.
import type * as ast from "../../python/ast";

/** an annotation in one line, without quotes: `Optional[Tensor]` */
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
      return a.elts.map(annotationText).join(",");
    case "BinOp":
      return `${annotationText(a.left)}|${annotationText(a.right)}`;
    case "Constant":
      return a.value.type === "str" ? a.value.value : a.value.type;
    default:
      return "";
  }
}

/** a module with the definitions that stand under its conditions, try and with blocks next to its own */
export function withNestedDefinitions(module: ast.Module): ast.Module {
  const nested: ast.Stmt[] = [];
  const visit = (body: readonly ast.Stmt[]): void => {
    for (const s of body) {
      if (s.kind === "ClassDef" || s.kind === "FunctionDef") nested.push(s);
      else blocksOf(s).forEach(visit);
    }
  };
  for (const s of module.body) blocksOf(s).forEach(visit);
  return nested.length === 0 ? module : { ...module, body: [...module.body, ...nested] };
}

function blocksOf(s: ast.Stmt): (readonly ast.Stmt[])[] {
  if (s.kind === "If") return [s.body, s.orelse];
  if (s.kind === "With") return [s.body];
  return s.kind === "Try" ? [s.body, ...s.handlers.map(h => h.body), s.orelse, s.finalbody] : [];
}

export interface Parameter {
  readonly arg: ast.Arg;
  /** has no default */
  readonly required: boolean;
  readonly keywordOnly: boolean;
}

/** the parameters of a function; `bound` leaves out self */
export function parametersOf(def: ast.FunctionDef, bound: boolean): Parameter[] {
  const { args } = def;
  const positional = [...args.posonlyargs, ...args.args];
  const firstDefault = positional.length - args.defaults.length;
  return [
    ...positional.map((arg, i) => ({ arg, required: i < firstDefault, keywordOnly: false })).slice(bound ? 1 : 0),
    ...args.kwonlyargs.map((arg, i) => ({ arg, required: args.kwDefaults[i] === null, keywordOnly: true })),
  ];
}

/** the last definition of a method: the one that counts */
export function methodOf(cls: ast.ClassDef, name: string): ast.FunctionDef | undefined {
  const found = cls.body.filter(s => s.kind === "FunctionDef" && s.name === name).pop();
  return found?.kind === "FunctionDef" ? found : undefined;
}
