// Small questions about expressions. In: a syntax tree. Out: the name, text or number that it spells.
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
