// Expressions to instructions, in CPython's evaluation order and with its positions: a call of a method in a chain over
// several lines stands on the line of the method's name, operators mark their own place for the caret line.
import type * as ast from "../../python/ast";
import { PyComplex, PyFloat } from "../objects/values";
import type { FunctionSpec, Position } from "./instructions";
import { Label, Unit } from "./unit";

/** payload of CALL */
export interface CallSpec {
  /** what a decorator is called with is what the name gets where nothing is known of the decorator */
  readonly decorator?: boolean;
  readonly kwnames: readonly string[];
  readonly method: boolean;
}

export function expression(u: Unit, e: ast.Expr): void {
  const outer = u.at;
  u.at = positionOf(e);
  visit(u, e);
  u.at = outer;
}

function positionOf(e: ast.Expr): Position {
  const span = e.span;
  if (e.kind === "BinOp") {
    const anchored = e.opSpan.line === span.line && span.line === span.endLine;
    return anchored ? { span, anchor: { start: e.opSpan.column, end: e.opSpan.endColumn } } : { span };
  }
  if (e.kind === "Subscript") {
    const b = e.bracketSpan;
    const anchored = b.line === span.line && span.line === span.endLine;
    return anchored ? { span, anchor: { start: b.column, end: b.endColumn } } : { span };
  }
  return { span };
}

/** attribute access over several lines is placed at the attribute's name */
function attributePosition(e: ast.Attribute): Position {
  if (e.attrSpan.line === e.value.span.line) return { span: e.span };
  return { span: { ...e.span, line: e.attrSpan.line, column: e.attrSpan.column, start: e.attrSpan.start } };
}

function visit(u: Unit, e: ast.Expr): void {
  switch (e.kind) {
    case "Constant":
      u.emit("LOAD_CONST", 0, constant(e.value));
      return;
    case "Name":
      u.load(e.id);
      return;
    case "Attribute":
      expression(u, e.value);
      u.emit("LOAD_ATTR", 0, e.attr, attributePosition(e));
      return;
    case "Subscript":
      expression(u, e.value);
      expression(u, e.slice);
      u.emit("BINARY_SUBSCR");
      return;
    case "Slice":
      for (const p of [e.lower, e.upper, e.step]) {
        if (p) expression(u, p);
        else u.emit("LOAD_CONST", 0, null);
      }
      u.emit("BUILD_SLICE");
      return;
    case "BinOp":
      expression(u, e.left);
      expression(u, e.right);
      u.emit("BINARY_OP", 0, e.op);
      return;
    case "UnaryOp":
      expression(u, e.operand);
      u.emit("UNARY_OP", 0, e.op);
      return;
    case "BoolOp": {
      const end = new Label();
      e.values.forEach((v, i) => {
        expression(u, v);
        if (i < e.values.length - 1) u.jump(e.op === "and" ? "JUMP_IF_FALSE_OR_POP" : "JUMP_IF_TRUE_OR_POP", end);
      });
      u.mark(end);
      return;
    }
    case "Compare":
      compare(u, e);
      return;
    case "IfExp": {
      const [other, end] = [new Label(), new Label()];
      jumpIf(u, e.test, false, other);
      expression(u, e.body);
      u.jump("JUMP", end);
      u.mark(other);
      expression(u, e.orelse);
      u.mark(end);
      return;
    }
    case "NamedExpr":
      expression(u, e.value);
      u.emit("COPY", 1);
      storeInFunction(u, e.target.id);
      return;
    case "Tuple":
      display(u, e.elts, "BUILD_TUPLE");
      return;
    case "List":
      display(u, e.elts, "BUILD_LIST");
      return;
    case "Set":
      display(u, e.elts, "BUILD_SET");
      return;
    case "Dict":
      dictionary(u, e);
      return;
    case "Call":
      call(u, e);
      return;
    case "JoinedStr":
      for (const v of e.values) expression(u, v);
      u.emit("BUILD_STRING", e.values.length);
      return;
    case "FormattedValue":
      expression(u, e.value);
      if (e.formatSpec) expression(u, e.formatSpec);
      u.emit("FORMAT_VALUE", e.formatSpec ? 1 : 0, e.conversion);
      return;
    case "Lambda": {
      const child = new Unit(u.all, e, u, "<lambda>", u.code.file, u.text, e.span.line, "function");
      parameters(child, e.args);
      expression(child, e.body);
      child.at = { span: e.body.span };
      child.emit("RETURN_VALUE");
      makeFunction(u, child, e.args);
      return;
    }
    case "ListComp":
    case "SetComp":
    case "DictComp":
      comprehension(u, e);
      return;
    case "GeneratorExp":
      generatorExpression(u, e);
      return;
    case "Yield":
      if (e.value) expression(u, e.value);
      else u.emit("LOAD_CONST", 0, null);
      u.emit("YIELD_VALUE");
      return;
    case "YieldFrom":
    case "Await":
      expression(u, e.value);
      u.emit("GET_ITER");
      u.emit("LOAD_CONST", 0, null);
      u.emit("YIELD_FROM");
      return;
    case "Starred":
      expression(u, e.value);
      return;
    default:
      e satisfies never;
  }
}

export function constant(c: ast.ConstantValue): unknown {
  switch (c.type) {
    case "int":
    case "str":
    case "bool":
      return c.value;
    case "float":
      return new PyFloat(c.value);
    case "imaginary":
      return new PyComplex(0, c.value);
    case "None":
      return null;
    case "bytes":
    case "Ellipsis":
      return c; // made into objects when loaded, since they need their class
    default:
      return c satisfies never;
  }
}

/** := binds in the function around all comprehensions */
function storeInFunction(u: Unit, name: string): void {
  const inner = u.scopes.splice(1);
  u.store(name);
  u.scopes.push(...inner);
}

/** jumps to the label if the truth of `e` is `when`; and/or/not become control flow */
export function jumpIf(u: Unit, e: ast.Expr, when: boolean, label: Label): void {
  if (e.kind === "UnaryOp" && e.op === "not") {
    jumpIf(u, e.operand, !when, label);
    return;
  }
  if (e.kind === "BoolOp") {
    const decides = e.op === "or"; // the truth value that settles the whole
    const skip = decides === when ? label : new Label();
    e.values.slice(0, -1).forEach(v => {
      jumpIf(u, v, decides, skip);
    });
    const last = e.values[e.values.length - 1];
    if (last) jumpIf(u, last, when, label);
    if (skip !== label) u.mark(skip);
    return;
  }
  expression(u, e);
  const outer = u.at;
  u.at = positionOf(e);
  u.jump(when ? "POP_JUMP_IF_TRUE" : "POP_JUMP_IF_FALSE", label);
  u.at = outer;
}

function compare(u: Unit, e: ast.Compare): void {
  expression(u, e.left);
  const [cleanup, end] = [new Label(), new Label()];
  e.comparators.forEach((c, i) => {
    expression(u, c);
    const last = i === e.comparators.length - 1;
    if (!last) {
      u.emit("SWAP", 2);
      u.emit("COPY", 2);
    }
    u.emit("COMPARE_OP", 0, e.ops[i]);
    if (!last) u.jump("JUMP_IF_FALSE_OR_POP", cleanup);
  });
  if (e.comparators.length > 1) {
    u.jump("JUMP", end);
    u.mark(cleanup);
    u.emit("SWAP", 2);
    u.emit("POP_TOP");
    u.mark(end);
  }
}

function display(u: Unit, elts: readonly ast.Expr[], op: "BUILD_TUPLE" | "BUILD_LIST" | "BUILD_SET"): void {
  if (!elts.some(x => x.kind === "Starred")) {
    for (const x of elts) expression(u, x);
    u.emit(op, elts.length);
    return;
  }
  u.emit(op === "BUILD_SET" ? "BUILD_SET" : "BUILD_LIST", 0);
  for (const x of elts) {
    expression(u, x);
    if (x.kind === "Starred") u.emit(op === "BUILD_SET" ? "SET_UPDATE" : "LIST_EXTEND");
    else u.emit(op === "BUILD_SET" ? "SET_ADD" : "LIST_APPEND", 1);
  }
  if (op === "BUILD_TUPLE") u.emit("LIST_TO_TUPLE");
}

function dictionary(u: Unit, e: ast.Dict): void {
  if (!e.keys.includes(null)) {
    e.keys.forEach((k, i) => {
      const v = e.values[i];
      if (k) expression(u, k);
      if (v) expression(u, v);
    });
    u.emit("BUILD_MAP", e.keys.length);
    return;
  }
  u.emit("BUILD_MAP", 0);
  e.keys.forEach((k, i) => {
    const v = e.values[i];
    if (!v) return;
    if (k) {
      expression(u, k);
      expression(u, v);
      u.emit("MAP_ADD", 1);
    } else {
      expression(u, v);
      u.emit("DICT_UPDATE");
    }
  });
}

function call(u: Unit, e: ast.Call): void {
  const func = e.func;
  let at: Position = { span: e.span };
  if (func.kind === "Attribute" && func.attrSpan.line !== func.value.span.line) {
    at = { span: { ...e.span, line: func.attrSpan.line, column: func.attrSpan.column, start: func.attrSpan.start } };
  }
  expression(u, func);
  const isSuper = func.kind === "Name" && func.id === "super" && e.args.length === 0 && e.keywords.length === 0;
  if (isSuper && superArguments(u)) {
    u.emit("CALL", 2, { kwnames: [], method: false } satisfies CallSpec, at);
    return;
  }
  const plain = !e.args.some(a => a.kind === "Starred") && !e.keywords.some(k => k.arg === null);
  if (plain) {
    for (const a of e.args) expression(u, a);
    for (const k of e.keywords) expression(u, k.value);
    const spec: CallSpec = { kwnames: e.keywords.map(k => k.arg ?? ""), method: func.kind === "Attribute" };
    u.emit("CALL", e.args.length + e.keywords.length, spec, at);
    return;
  }
  display(u, e.args, "BUILD_TUPLE");
  keywordDict(u, e.keywords);
  u.emit("CALL_EX", e.keywords.length > 0 ? 1 : 0, undefined, at);
}

/** pushes __class__ and the first parameter, as super() without arguments finds them */
function superArguments(u: Unit): boolean {
  if (u.code.kind !== "function") return false;
  const where = u.where("__class__");
  if (where.kind !== "deref") return false;
  const first = u.code.varnames[0];
  const firstArg = u.code.argCount > 0 ? first : undefined;
  if (firstArg === undefined) return false;
  u.load("__class__");
  const inner = u.scopes.splice(1);
  u.load(firstArg);
  u.scopes.push(...inner);
  return true;
}

export function keywordDict(u: Unit, keywords: readonly ast.Keyword[]): void {
  if (keywords.length === 0) return;
  u.emit("BUILD_MAP", 0);
  for (const k of keywords) {
    if (k.arg === null) {
      expression(u, k.value);
      u.emit("DICT_MERGE");
    } else {
      u.emit("LOAD_CONST", 0, k.arg);
      expression(u, k.value);
      u.emit("MAP_ADD", 1);
    }
  }
}

export function starredTuple(u: Unit, elts: readonly ast.Expr[]): void {
  display(u, elts, "BUILD_TUPLE");
}

// ---- comprehensions

/** runs inline in the enclosing frame (PEP 709), with its variables in slots of their own */
function comprehension(u: Unit, e: ast.ListComp | ast.SetComp | ast.DictComp): void {
  const scope = u.scopeOf(e);
  const first = e.generators[0];
  if (!first) return;
  expression(u, first.iter);
  u.emit("GET_ITER", 0, undefined, { span: first.iter.span });
  const build = e.kind === "ListComp" ? "BUILD_LIST" : e.kind === "SetComp" ? "BUILD_SET" : "BUILD_MAP";
  u.emit(build, 0);
  u.emit("SWAP", 2);
  u.scopes.push(scope);
  for (const name of scope.captured) u.emit("NEW_CELL", u.cellSlot(scope, name));
  loop(u, e.generators, 0, 1, depth => {
    if (e.kind === "DictComp") {
      expression(u, e.key);
      expression(u, e.value);
      u.emit("MAP_ADD", depth + 1);
    } else {
      expression(u, e.elt);
      u.emit(e.kind === "ListComp" ? "LIST_APPEND" : "SET_ADD", depth + 1);
    }
  });
  u.scopes.pop();
}

/** the stack holds `iterators` iterators on top of the result; element gets that number */
function loop(
  u: Unit,
  generators: readonly ast.Comprehension[],
  index: number,
  iterators: number,
  element: (iterators: number) => void,
): void {
  const g = generators[index];
  if (!g) return;
  const [start, end] = [new Label(), new Label()];
  if (index > 0) {
    expression(u, g.iter);
    u.emit("GET_ITER", 0, undefined, { span: g.iter.span });
  }
  const outer = u.at;
  u.at = { span: g.iter.span };
  u.mark(start);
  u.jump("FOR_ITER", end);
  u.at = outer;
  storeTarget(u, g.target);
  for (const test of g.ifs) jumpIf(u, test, false, start);
  if (index + 1 < generators.length) loop(u, generators, index + 1, iterators + 1, element);
  else element(iterators);
  u.jump("JUMP", start);
  u.mark(end);
}

function generatorExpression(u: Unit, e: ast.GeneratorExp): void {
  const child = new Unit(u.all, e, u, "<genexpr>", u.code.file, u.text, e.span.line, "function");
  child.code.isGenerator = true;
  child.code.argCount = 1;
  child.code.varnames.push(".0");
  child.at = { span: e.span };
  const first = e.generators[0];
  if (!first) return;
  child.emit("LOAD_FAST", 0, ".0");
  loop(child, e.generators, 0, 1, () => {
    expression(child, e.elt);
    child.at = { span: e.elt.span };
    child.emit("YIELD_VALUE");
    child.emit("POP_TOP");
  });
  child.emit("LOAD_CONST", 0, null);
  child.emit("RETURN_VALUE");
  const code = child.finish();
  const closure = u.closure(code);
  u.emit("MAKE_FUNCTION", 0, { code, defaults: false, kwDefaults: [], closure } satisfies FunctionSpec);
  expression(u, first.iter);
  u.emit("GET_ITER", 0, undefined, { span: first.iter.span });
  u.emit("CALL", 1, { kwnames: [], method: false } satisfies CallSpec);
}

// ---- targets and functions

export function storeTarget(u: Unit, t: ast.Expr): void {
  const outer = u.at;
  u.at = positionOf(t);
  if (t.kind === "Name") {
    u.store(t.id);
  } else if (t.kind === "Attribute") {
    expression(u, t.value);
    u.emit("STORE_ATTR", 0, t.attr, attributePosition(t));
  } else if (t.kind === "Subscript") {
    expression(u, t.value);
    expression(u, t.slice);
    u.emit("STORE_SUBSCR");
  } else if (t.kind === "Tuple" || t.kind === "List") {
    const star = t.elts.findIndex(x => x.kind === "Starred");
    if (star < 0) u.emit("UNPACK_SEQUENCE", t.elts.length);
    else u.emit("UNPACK_EX", star, t.elts.length - star - 1);
    for (const x of t.elts) storeTarget(u, x.kind === "Starred" ? x.value : x);
  } else {
    u.emit("SYNTAX_PROBLEM", 0, "cannot assign to this expression");
  }
  u.at = outer;
}

/** declares the parameters of a function in the order of CPython's local variables */
export function parameters(child: Unit, args: ast.Arguments): void {
  const scope = child.scopes[0];
  if (!scope) throw new Error("a function has a scope");
  const code = child.code;
  code.signature = args;
  code.posOnlyCount = args.posonlyargs.length;
  code.argCount = args.posonlyargs.length + args.args.length;
  code.kwOnlyCount = args.kwonlyargs.length;
  code.varargs = args.vararg !== null;
  code.varkw = args.kwarg !== null;
  const all = [...args.posonlyargs, ...args.args, ...args.kwonlyargs, args.vararg, args.kwarg];
  for (const a of all) {
    if (!a) continue;
    const slot = child.slot(scope, a.arg);
    if (scope.captured.has(a.arg)) code.cellParams.push([slot, child.cellSlot(scope, a.arg)]);
  }
}

/** pushes defaults, keyword defaults and closure in this order, then the function */
export function makeFunction(u: Unit, child: Unit, args: ast.Arguments): void {
  const code = child.finish();
  if (args.defaults.length > 0) {
    for (const d of args.defaults) expression(u, d);
    u.emit("BUILD_TUPLE", args.defaults.length);
  }
  const kwDefaults: string[] = [];
  args.kwonlyargs.forEach((a, i) => {
    const d = args.kwDefaults[i];
    if (!d) return;
    expression(u, d);
    kwDefaults.push(a.arg);
  });
  const closure = u.closure(code);
  const spec: FunctionSpec = { code, defaults: args.defaults.length > 0, kwDefaults, closure };
  u.emit("MAKE_FUNCTION", 0, spec);
}
