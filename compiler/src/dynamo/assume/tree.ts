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
