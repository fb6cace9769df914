// What of a module is still worth running after one of its statements failed. In: the statements and the line. Out: those
// below it that define something and call nothing of the program's: the analysis goes on with them, a program would not.
import type * as ast from "../../python/ast";

export function definitionsAfter(body: readonly ast.Stmt[], line: number): ast.Stmt[] {
  // a decorator's line lies before its definition's
  const failed = body.findIndex(s => s.span.endLine >= line);
  return failed < 0 ? [] : body.slice(failed + 1).filter(defines);
}

/** the names that an import at this line would have bound */
export function importedAt(
  body: readonly ast.Stmt[],
  line: number,
): { readonly name: string; readonly from: string }[] {
  const s = body.find(x => x.span.line <= line && line <= x.span.endLine);
  if (s?.kind === "Import") {
    return s.names.map(a => ({ name: a.asname ?? a.name.split(".")[0] ?? a.name, from: a.name }));
  }
  if (s?.kind !== "ImportFrom") return [];
  return s.names.flatMap(a => (a.name === "*" ? [] : [{ name: a.asname ?? a.name, from: `${s.module}.${a.name}` }]));
}

function defines(s: ast.Stmt): boolean {
  switch (s.kind) {
    case "FunctionDef":
    case "ClassDef":
    case "Import":
    case "ImportFrom":
    case "Pass":
      return true;
    case "Assign":
      return plain(s.value);
    case "AnnAssign":
      return s.value === null || plain(s.value);
    case "If":
      return plain(s.test) && [...s.body, ...s.orelse].every(defines);
    case "Try":
      return [...s.body, ...s.handlers.flatMap(h => h.body), ...s.orelse, ...s.finalbody].every(defines);
    default:
      return false;
  }
}

/** calls nothing, or only looks something up in the environment or makes a container, a type or a logger */
function plain(e: ast.Expr): boolean {
  switch (e.kind) {
    case "Call": {
      const { func } = e;
      const name = func.kind === "Attribute" ? func.attr : func.kind === "Name" ? func.id : "";
      return HARMLESS.test(name) && [...e.args, ...e.keywords.map(k => k.value)].every(plain);
    }
    case "Constant":
    case "Name":
    case "Lambda":
      return true;
    case "Attribute":
      return plain(e.value);
    case "Subscript":
      return plain(e.value) && (e.slice.kind === "Slice" || plain(e.slice));
    case "Tuple":
    case "List":
    case "Set":
      return e.elts.every(plain);
    case "Dict":
      return [...e.keys, ...e.values].every(x => x === null || plain(x));
    case "BinOp":
      return plain(e.left) && plain(e.right);
    case "BoolOp":
      return e.values.every(plain);
    case "UnaryOp":
      return plain(e.operand);
    case "Compare":
      return [e.left, ...e.comparators].every(plain);
    case "IfExp":
      return plain(e.test) && plain(e.body) && plain(e.orelse);
    case "Starred":
      return plain(e.value);
    default:
      return false;
  }
}

const HARMLESS =
  /^(get|getenv|int|float|str|bool|len|dict|list|tuple|set|frozenset|partial|namedtuple|TypeVar|NewType|getLogger|dirname|join|abspath|Path|device|is_available|lower|upper|defaultdict|OrderedDict)$/;
