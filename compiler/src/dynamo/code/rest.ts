// What of a module is still worth running after one of its statements failed. In: the statements and the line. Out: those
// below it that the analysis goes on with, where a program would end.
import type * as ast from "../../python/ast";
import { walk } from "../../python/walk";

// a decorator's line lies before its definition's
const indexAt = (body: readonly ast.Stmt[], line: number): number => body.findIndex(s => s.span.endLine >= line);

/** the class or function whose decorator failed, without its decorators */
function undecorated(s: ast.Stmt | undefined, line: number): ast.Stmt | undefined {
  if ((s?.kind !== "ClassDef" && s?.kind !== "FunctionDef") || s.decorators.length === 0) return undefined;
  return line < s.nameSpan.line ? { ...s, decorators: [] } : undefined;
}

/** statements that define something and call nothing of the program's, what a decorator refused among them */
export function definitionsAfter(body: readonly ast.Stmt[], line: number): ast.Stmt[] {
  const failed = indexAt(body, line);
  if (failed < 0) return [];
  const bare = undecorated(body[failed], line);
  return [...(bare ? [bare] : []), ...body.slice(failed + 1).filter(defines)];
}

/**
 * The statements that need nothing of what the failed one would have made, nor of what is left out because of it, and the
 * names that nobody binds now. Functions and classes stay, without decorators that failed.
 */
export const independentAfter = (body: readonly ast.Stmt[], line: number): Rest => restAfter(body, line, true);

/** The statements below the failed one, those too that need what it would have made, which nobody knows then. */
export const allAfter = (body: readonly ast.Stmt[], line: number): Rest => restAfter(body, line, false);

export interface Rest {
  readonly rest: readonly ast.Stmt[];
  /** names that nobody binds now */
  readonly missing: ReadonlySet<string>;
}

function restAfter(body: readonly ast.Stmt[], line: number, independent: boolean): Rest {
  const failed = indexAt(body, line);
  if (failed < 0) return { rest: [], missing: new Set() };
  const whole = body[failed];
  if (whole?.kind === "If" && line > whole.test.span.endLine) {
    // the branch that failed goes on like the module around it
    const branch = indexAt(whole.body, line) < 0 ? whole.orelse : whole.body;
    return restAfter([...branch, ...body.slice(failed + 1)], line, independent);
  }
  const bare = undecorated(whole, line);
  if (bare) return { rest: [bare, ...body.slice(failed + 1)], missing: new Set() };
  const missing = new Set<string>();
  const rest: ast.Stmt[] = [];
  body.slice(failed).forEach((s, i) => {
    const bound = boundBy(s);
    const needs = i === 0 || (independent && namesIn(readBy(s)).some(n => missing.has(n)));
    if (!needs) rest.push(s);
    for (const n of bound) {
      if (needs) missing.add(n);
      else missing.delete(n);
    }
  });
  return { rest, missing };
}

/** what a statement evaluates: an assignment to plain names does not read them */
function readBy(s: ast.Stmt): unknown {
  if (s.kind === "Assign" && s.targets.every(t => t.kind === "Name")) return s.value;
  if (s.kind === "AnnAssign" && s.target.kind === "Name") return s.value;
  // bodies run later; a base or a decorator that is not known is no reason to do without the class
  if (s.kind === "FunctionDef" || s.kind === "ClassDef") return null;
  return s;
}

function namesIn(root: unknown): string[] {
  const names: string[] = [];
  walk(root, n => {
    if (n.kind === "Name") names.push(n.id);
  });
  return names;
}

/** the names that a statement binds where it stands, its blocks included */
function boundBy(s: ast.Stmt): string[] {
  if (s.kind === "FunctionDef" || s.kind === "ClassDef") return [s.name];
  const names: string[] = [];
  walk(s, n => {
    if (n.kind === "Assign") names.push(...namesIn(n.targets.filter(isPlace)));
    else if (n.kind === "AnnAssign" || n.kind === "AugAssign" || n.kind === "For") names.push(...namesIn(n.target));
    else if (n.kind === "NamedExpr") names.push(...namesIn(n.target));
    else if (n.kind === "With") names.push(...namesIn(n.items.map(i => i.target)));
    else if (n.kind === "FunctionDef" || n.kind === "ClassDef") names.push(n.name);
  });
  return names;
}

/** a target that binds names, not a part of an object */
const isPlace = (t: ast.Expr): boolean =>
  t.kind === "Name" || t.kind === "Tuple" || t.kind === "List" || t.kind === "Starred";

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
