// Reading syntax trees for what they imply. In: a tree. Out: its nodes in source order, and small questions about them.
import type * as ast from "../../python/ast";

/** every node under `root`, outermost first; functions and classes inside are entered too */
export function walk(root: unknown, visit: (n: ast.Node) => void): void {
  if (Array.isArray(root)) {
    for (const x of root) walk(x, visit);
    return;
  }
  if (root === null || typeof root !== "object" || root instanceof Uint8Array) return;
  if ("kind" in root && "span" in root) visit(root as ast.Node);
  for (const [k, v] of Object.entries(root)) {
    if (k !== "span" && k !== "nameSpan" && typeof v === "object" && v !== null) walk(v, visit);
  }
}

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
