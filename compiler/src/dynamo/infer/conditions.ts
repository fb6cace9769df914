// Constructor arguments that a failing forward asks for. In: the class, its parameters, what stood in them, the error. Out: states
// to build once more, which make the constructor set an attribute that it sets under a condition only.
import type * as ast from "../../python/ast";
import type { Code } from "../code/instructions";
import { PyFunction } from "../interp/frame";
import type { PyClass, Value } from "../objects/values";
import { methodOf } from "./context";
import { intOf, stringOf } from "./syntax";
import { ABSENT, bool, type Choice, type Failure, type Hole, NONE, number, type State, str, withChoice } from "./types";

/** paths to one attribute that are tried */
const MOST_PATHS = 4;

/**
 * "'Net' object has no attribute 'gate'", where the constructor has `if config.gated: self.gate = ...`; and "cannot access local
 * variable 'last'", where forward has `if self.pooled: last = ...` and the constructor keeps the flag.
 */
export function conditional(cls: PyClass, holes: readonly Hole[], s: State, f: Failure): State[] {
  const body = methodOf(cls, "__init__")?.code.body ?? [];
  const [, owner, attribute] = /^'(\w+)' object has no attribute '(\w+)'/.exec(f.message) ?? [];
  if (attribute !== undefined)
    return cls.mro.some(c => c.name === owner)
      ? reaching(
          pathsTo(x => sets(x, attribute), body),
          new Reader(body, holes, false),
          s,
        )
      : [];
  const local = f.type === "UnboundLocalError" ? /local variable '(\w+)'/.exec(f.message)?.[1] : undefined;
  if (local === undefined) return [];
  const paths = pathsTo(x => binds(x, local), methodOf(cls, "forward")?.code.body ?? []);
  return reaching(paths, new Reader(body, holes, true), s);
}

/**
 * The other side of the conditions under which a statement of the class failed, the innermost first: `if load: read(...)`. A test
 * of another method than the constructor is about what the constructor keeps.
 */
export function avoiding(cls: PyClass, holes: readonly Hole[], s: State, f: Failure): State[] {
  const body = methodOf(cls, "__init__")?.code.body ?? [];
  return f.places.slice(0, DEEPEST).flatMap(place => {
    const code = methodAround(cls, place);
    if (!code) return [];
    const reader = new Reader(body, holes, code.body !== body);
    return around(code.body ?? [], place.line).flatMap(c => reader.changed(s, c));
  });
}

/** the same of a function and its own parameters */
export function avoidingIn(code: Code, holes: readonly Hole[], s: State, f: Failure): State[] {
  const place = f.places.find(p => holds(code, p));
  const reader = new Reader([], holes, false);
  return place ? around(code.body ?? [], place.line).flatMap(c => reader.changed(s, c)) : [];
}

/** lines of the stack that are looked at */
const DEEPEST = 12;

/** whether a line is one of a function's own */
export const holds = (code: Code, { file, line }: Failure["places"][number]): boolean =>
  code.file === file && (code.body ?? []).some(s => s.span.line <= line && line <= s.span.endLine);

function methodAround(cls: PyClass, place: Failure["places"][number]): Code | undefined {
  for (const c of cls.mro)
    for (const v of c.place === null ? [] : c.dict.values())
      if (v instanceof PyFunction && holds(v.code, place)) return v.code;
  return undefined;
}

/** the conditions around a line, the innermost first */
export function around(body: readonly ast.Stmt[], line: number): Condition[] {
  const s = body.find(x => x.span.line <= line && line <= x.span.endLine);
  if (s?.kind === "For" || s?.kind === "With" || s?.kind === "Try") return around(s.body, line);
  if (s?.kind !== "If" || line <= s.test.span.endLine) return [];
  const inBody = s.body.some(x => x.span.line <= line && line <= x.span.endLine);
  return [...around(inBody ? s.body : s.orelse, line), { test: s.test, holds: inBody }];
}

/** the states in which one of these ways is taken */
function reaching(paths: readonly Condition[][], reader: Reader, s: State): State[] {
  return paths.slice(0, MOST_PATHS).flatMap(path => {
    const made = path.reduce<State | undefined>((st, c) => st && reader.settled(st, c.test, c.holds), s);
    return made === undefined || made === s ? [] : [made];
  });
}

interface Condition {
  readonly test: ast.Expr;
  readonly holds: boolean;
}

/** the conditions under which statements of this kind stand, one list a place */
function pathsTo(is: (s: ast.Stmt) => boolean, body: readonly ast.Stmt[]): Condition[][] {
  const out: Condition[][] = [];
  const visit = (list: readonly ast.Stmt[], under: readonly Condition[]): void => {
    for (const s of list) {
      if (s.kind === "If") {
        visit(s.body, [...under, { test: s.test, holds: true }]);
        visit(s.orelse, [...under, { test: s.test, holds: false }]);
      } else if (s.kind === "For" || s.kind === "With" || s.kind === "Try") visit(s.body, under);
      else if (under.length > 0 && is(s)) out.push([...under]);
    }
  };
  visit(body, []);
  return out;
}

function sets(s: ast.Stmt, name: string): boolean {
  const targets = s.kind === "Assign" ? s.targets : s.kind === "AnnAssign" ? [s.target] : [];
  return targets
    .flatMap(t => (t.kind === "Tuple" ? t.elts : [t]))
    .some(t => t.kind === "Attribute" && t.attr === name && t.value.kind === "Name" && t.value.id === "self");
}

/** a statement that binds a local name */
const binds = (s: ast.Stmt, name: string): boolean =>
  s.kind === "Assign" &&
  s.targets.flatMap(t => (t.kind === "Tuple" ? t.elts : [t])).some(t => t.kind === "Name" && t.id === name);

/** reads tests of a constructor as questions about its parameters */
class Reader {
  constructor(
    private readonly body: readonly ast.Stmt[],
    private readonly holes: readonly Hole[],
    /** the tests are another method's: names that stand in them alone are not the constructor's */
    private readonly elsewhere: boolean,
  ) {}

  /** the state in which a condition is not as it was, if there is one */
  changed(s: State, c: Condition): State[] {
    const made = this.settled(s, c.test, !c.holds);
    if (made === s && c.holds) return this.otherText(s, c.test);
    return made === undefined || made === s ? [] : [made];
  }

  /** \`config.kind == "spring"\`: a configuration that has another text there */
  private otherText(s: State, test: ast.Expr): State[] {
    const told = test.kind === "Compare" && test.ops.length === 1 && test.ops[0] === "==" ? test : undefined;
    const is = told?.comparators[0] && stringOf(told.comparators[0]);
    const made =
      told?.left.kind === "Attribute" && is !== undefined ? this.put(s, told.left, str("default")) : undefined;
    return made === undefined ? [] : [made];
  }

  /** the state in which the test holds, or does not; undefined: it asks for nothing that a parameter says */
  settled(s: State, test: ast.Expr, holds: boolean): State | undefined {
    if (test.kind === "UnaryOp" && test.op === "not") return this.settled(s, test.operand, !holds);
    if (test.kind === "BoolOp") {
      // all parts of what is to hold together; the first that can be of the others
      const together = (test.op === "and") === holds;
      if (together) return test.values.reduce<State | undefined>((st, v) => st && this.settled(st, v, holds), s);
      return test.values.map(v => this.settled(s, v, holds)).find(x => x !== undefined);
    }
    if (test.kind !== "Compare") return this.put(s, test, holds ? undefined : bool(false));
    const other = test.comparators[0];
    if (test.ops.length !== 1 || other === undefined) return undefined;
    const op = test.ops[0];
    if (other.kind === "Constant" && other.value.type === "None")
      return this.put(s, test.left, (op === "is" || op === "==") === holds ? NONE : undefined);
    const literal = literalOf(other);
    // "spring" in self.kind
    const text = stringOf(test.left);
    if (literal === undefined && text !== undefined && (op === "in") === holds) return this.put(s, other, str(text));
    if (literal === undefined) return undefined;
    // of two answers the other one; of more, whatever stands there is another
    const another = (): State | undefined =>
      literal.kind === "bool" ? this.put(s, test.left, bool(!literal.value)) : s;
    if (op === "==" || op === "is" || op === "in") return holds ? this.put(s, test.left, literal) : another();
    if (op === "!=" || op === "is not" || op === "not in") return holds ? another() : this.put(s, test.left, literal);
    if (literal.kind !== "number") return undefined;
    const above = op === ">" || op === ">=";
    return this.put(s, test.left, number(literal.value + (above === holds ? 1 : -1)));
  }

  private put(s: State, e: ast.Expr, value: Choice | undefined): State | undefined {
    return this.elsewhere && !(e.kind === "Attribute" && isSelf(e.value)) ? undefined : this.given(s, e, value);
  }

  /** `value`: undefined: anything that is true and not None */
  private given(s: State, e: ast.Expr, value: Choice | undefined): State | undefined {
    if (e.kind === "Name") {
      const h = this.holes.find(x => x.name === e.id);
      const made = h && !h.written ? (value ?? likely(h, s.get(h.name) ?? ABSENT)) : undefined;
      return h && made ? withChoice(s, h.name, made) : undefined;
    }
    if (e.kind !== "Attribute" || e.value.kind !== "Name") return undefined;
    if (e.value.id === "self") {
      const source = this.stored(e.attr);
      return source && this.given(s, source, value);
    }
    const owner = e.value.id;
    const h = this.holes.find(x => x.name === owner);
    const now = s.get(owner);
    if (!h || h.written || now?.kind !== "object") return undefined;
    const given = [...now.given.filter(([k]) => k !== e.attr), [e.attr, value ?? bool(true)] as const];
    return withChoice(s, owner, { ...now, given });
  }

  /** what self.name was set to, where that is a name or an attribute */
  private stored(name: string): ast.Expr | undefined {
    for (const s of this.body) {
      if (s.kind !== "Assign" || !sets(s, name)) continue;
      if (s.value.kind === "Name" || (s.value.kind === "Attribute" && !isSelf(s.value.value))) return s.value;
    }
    return undefined;
  }
}

const isSelf = (e: ast.Expr): boolean => e.kind === "Name" && e.id === "self";

/** something true, of the parameter's own kind */
function likely(h: Hole, now: Choice): Choice | undefined {
  const fallback: Value | undefined = h.fallback;
  if (typeof fallback === "boolean" || now.kind === "bool") return bool(true);
  return h.choices.find(c => !falsy(c) && JSON.stringify(c) !== JSON.stringify(now)) ?? bool(true);
}

const falsy = (c: Choice): boolean =>
  c.kind === "none" || c.kind === "absent" || (c.kind === "bool" && !c.value) || (c.kind === "number" && c.value === 0);

function literalOf(e: ast.Expr): Choice | undefined {
  if (e.kind === "Tuple" || e.kind === "List" || e.kind === "Set") return e.elts[0] && literalOf(e.elts[0]);
  const text = stringOf(e);
  if (text !== undefined) return str(text);
  const n = intOf(e);
  if (n !== undefined) return number(n);
  return e.kind === "Constant" && e.value.type === "bool" ? bool(e.value.value) : undefined;
}
