// A module's tree to Code. In: Module and its text. Out: the module's Code, function bodies nested in it. Statements
// here, expressions and patterns in their own files. Follows CPython's compiler where order or position can be seen.

import type * as ast from "../../python/ast";
import type { CallSpec } from "./compile_expressions";
import {
  constant,
  expression,
  jumpIf,
  keywordDict,
  makeFunction,
  parameters,
  starredTuple,
  storeTarget,
} from "./compile_expressions";
import { pattern } from "./compile_patterns";
import type { Code, FunctionSpec, SourceFile } from "./instructions";
import { analyse } from "./scope";
import { type Block, Label, Unit } from "./unit";
import { asksForVersion } from "./versions";

export function compileModule(module: ast.Module, file: SourceFile, text: string): Code {
  const scopes = analyse(module);
  const u = new Unit(scopes, module, null, "<module>", file, text, 1, "module");
  u.code.docstring = docstring(module.body);
  block(u, module.body);
  u.emit("LOAD_CONST", 0, null);
  u.emit("RETURN_VALUE");
  return u.finish();
}

function docstring(body: readonly ast.Stmt[]): string | null {
  const s = body[0];
  if (s?.kind === "Expr" && s.value.kind === "Constant" && s.value.value.type === "str") return s.value.value.value;
  return null;
}

function block(u: Unit, body: readonly ast.Stmt[]): void {
  for (const s of body) {
    u.at = { span: s.span };
    statement(u, s);
  }
}

function statement(u: Unit, s: ast.Stmt): void {
  switch (s.kind) {
    case "Expr":
      if (s.value.kind === "Constant") return;
      expression(u, s.value);
      u.emit("POP_TOP");
      return;
    case "Assign":
      expression(u, s.value);
      s.targets.forEach((t, i) => {
        if (i < s.targets.length - 1) u.emit("COPY", 1);
        storeTarget(u, t);
      });
      return;
    case "AnnAssign":
      annotated(u, s);
      return;
    case "AugAssign":
      augmented(u, s);
      return;
    case "Return":
      returnStatement(u, s);
      return;
    case "Delete":
      for (const t of s.targets) deleteTarget(u, t);
      return;
    case "If": {
      const [other, end] = [new Label(), new Label()];
      jumpIf(u, s.test, false, other);
      block(u, s.body);
      if (s.orelse.length > 0) u.jump("JUMP", end);
      u.mark(other);
      block(u, s.orelse);
      u.mark(end);
      return;
    }
    case "While": {
      const [start, orelse, end] = [new Label(), new Label(), new Label()];
      u.mark(start);
      const endless = s.test.kind === "Constant" && s.test.value.type === "bool" && s.test.value.value;
      if (!endless) jumpIf(u, s.test, false, orelse);
      inBlock(u, { kind: "loop", next: start, exit: end, hasIterator: false }, () => block(u, s.body));
      u.at = { span: s.test.span };
      u.jump("JUMP", start);
      u.mark(orelse);
      block(u, s.orelse);
      u.mark(end);
      return;
    }
    case "For": {
      const [start, orelse, end] = [new Label(), new Label(), new Label()];
      expression(u, s.iter);
      u.emit("GET_ITER", 0, undefined, { span: s.iter.span });
      u.at = { span: s.iter.span };
      u.mark(start);
      u.jump("FOR_ITER", orelse);
      u.depth++;
      storeTarget(u, s.target);
      inBlock(u, { kind: "loop", next: start, exit: end, hasIterator: true }, () => block(u, s.body));
      u.depth--;
      u.at = { span: s.iter.span };
      u.jump("JUMP", start);
      u.mark(orelse);
      block(u, s.orelse);
      u.mark(end);
      return;
    }
    case "Break":
    case "Continue":
      leaveLoop(u, s.kind === "Break");
      return;
    case "With":
      withItem(u, s, 0);
      return;
    case "Try":
      tryStatement(u, s);
      return;
    case "Raise":
      if (s.exc) expression(u, s.exc);
      if (s.cause) expression(u, s.cause);
      u.emit("RAISE", s.exc ? (s.cause ? 2 : 1) : 0);
      return;
    case "Assert": {
      // the libraries that are modelled have versions of their own
      if (asksForVersion(s.test)) return;
      const end = new Label();
      jumpIf(u, s.test, true, end);
      u.emit("LOAD_ASSERTION_ERROR");
      if (s.msg) {
        expression(u, s.msg);
        u.emit("CALL", 1, { kwnames: [], method: false });
      }
      u.emit("RAISE", 1);
      u.mark(end);
      return;
    }
    case "Import":
      for (const a of s.names) {
        u.emit("IMPORT_NAME", 0, { module: a.name, level: 0, names: null, whole: a.asname !== null });
        u.store(a.asname ?? a.name.split(".")[0] ?? a.name);
      }
      return;
    case "ImportFrom":
      if (s.module === "__future__") return;
      u.emit("IMPORT_NAME", 0, { module: s.module, level: s.level, names: s.names.map(n => n.name), whole: true });
      for (const a of s.names) {
        if (a.name === "*") {
          u.emit("IMPORT_STAR");
          return;
        }
        u.emit("IMPORT_FROM", 0, a.name, { span: a.span });
        u.store(a.asname ?? a.name);
      }
      u.emit("POP_TOP");
      return;
    case "FunctionDef":
      functionDef(u, s);
      return;
    case "ClassDef":
      classDef(u, s);
      return;
    case "Match": {
      const end = new Label();
      const subject = u.temporary(".subject");
      expression(u, s.subject);
      u.emit("STORE_FAST", subject, ".subject");
      for (const c of s.cases) {
        const next = new Label();
        pattern(u, c.pattern, subject, next);
        if (c.guard) jumpIf(u, c.guard, false, next);
        block(u, c.body);
        u.jump("JUMP", end);
        u.mark(next);
      }
      u.mark(end);
      return;
    }
    case "TypeAlias":
      expression(u, s.value);
      u.store(s.name);
      return;
    case "Error":
      u.emit("SYNTAX_PROBLEM", 0, s.message);
      return;
    case "Global":
    case "Nonlocal":
    case "Pass":
      return;
    default:
      s satisfies never;
  }
}

function inBlock(u: Unit, b: Block, body: () => void): void {
  u.blocks.push(b);
  body();
  u.blocks.pop();
}

function annotated(u: Unit, s: ast.AnnAssign): void {
  if (s.value) {
    expression(u, s.value);
    storeTarget(u, s.target);
  }
  if (s.target.kind === "Name" && u.code.kind !== "function") {
    const text = u.text.slice(s.annotation.span.start, s.annotation.span.end);
    u.emit("STORE_ANNOTATION", 0, { name: s.target.id, text });
  }
}

function augmented(u: Unit, s: ast.AugAssign): void {
  const t = s.target;
  const at = { span: s.span };
  if (t.kind === "Name") {
    expression(u, t);
    expression(u, s.value);
    u.emit("INPLACE_OP", 0, s.op, at);
    u.at = { span: t.span };
    u.store(t.id);
  } else if (t.kind === "Attribute") {
    expression(u, t.value);
    u.emit("COPY", 1);
    u.emit("LOAD_ATTR", 0, t.attr, { span: t.span });
    expression(u, s.value);
    u.emit("INPLACE_OP", 0, s.op, at);
    u.emit("SWAP", 2);
    u.emit("STORE_ATTR", 0, t.attr, { span: t.span });
  } else if (t.kind === "Subscript") {
    expression(u, t.value);
    expression(u, t.slice);
    u.emit("COPY", 2);
    u.emit("COPY", 2);
    u.emit("BINARY_SUBSCR", 0, undefined, { span: t.span });
    expression(u, s.value);
    u.emit("INPLACE_OP", 0, s.op, at);
    u.emit("SWAP", 3);
    u.emit("SWAP", 2);
    u.emit("STORE_SUBSCR", 0, undefined, { span: t.span });
  } else {
    u.emit("SYNTAX_PROBLEM", 0, "illegal target for augmented assignment");
  }
}

function deleteTarget(u: Unit, t: ast.Expr): void {
  u.at = { span: t.span };
  if (t.kind === "Name") {
    u.delete(t.id);
  } else if (t.kind === "Attribute") {
    expression(u, t.value);
    u.emit("DELETE_ATTR", 0, t.attr);
  } else if (t.kind === "Subscript") {
    expression(u, t.value);
    expression(u, t.slice);
    u.emit("DELETE_SUBSCR");
  } else if (t.kind === "Tuple" || t.kind === "List") {
    for (const x of t.elts) deleteTarget(u, x);
  }
}

// ---- leaving blocks

/** emits what leaving the blocks above `keep` needs; `values` on top of the stack are preserved */
function unwind(u: Unit, keep: number, values: number): void {
  const blocks = u.blocks.slice(keep).reverse();
  const saved = { depth: u.depth, handling: u.handling };
  const below = (op: () => void): void => {
    if (values > 0) u.emit("SWAP", 2);
    op();
  };
  let handlers = 0;
  for (const b of blocks) {
    const blockIndex = u.blocks.indexOf(b);
    switch (b.kind) {
      case "loop":
        if (b.hasIterator) {
          below(() => u.emit("POP_TOP"));
          u.depth--;
        }
        break;
      case "try":
        handlers++;
        break;
      case "with":
        handlers++;
        u.outside(handlers, () => below(() => u.emit("WITH_EXIT", 0, undefined, b.at)));
        u.depth--;
        break;
      case "finally": {
        handlers++;
        const inner = u.blocks.splice(blockIndex);
        u.depth += values;
        u.outside(handlers, () => block(u, b.body));
        u.depth -= values;
        u.blocks.push(...inner);
        break;
      }
      case "handler":
        u.emit("POP_EXCEPT");
        u.handling--;
        if (b.name) {
          u.emit("LOAD_CONST", 0, null);
          u.store(b.name);
        }
        break;
      case "finally_handler":
        below(() => u.emit("POP_TOP"));
        u.emit("POP_EXCEPT");
        u.depth--;
        u.handling--;
        break;
      default:
        b satisfies never;
    }
  }
  u.depth = saved.depth;
  u.handling = saved.handling;
}

function returnStatement(u: Unit, s: ast.Return): void {
  if (s.value) expression(u, s.value);
  else u.emit("LOAD_CONST", 0, null);
  const at = u.at;
  unwind(u, 0, 1);
  u.at = at;
  u.emit("RETURN_VALUE");
}

function leaveLoop(u: Unit, exit: boolean): void {
  let i = u.blocks.length - 1;
  while (i >= 0 && u.blocks[i]?.kind !== "loop") i--;
  const target = u.blocks[i];
  if (target?.kind !== "loop") {
    u.emit("SYNTAX_PROBLEM", 0, exit ? "'break' outside loop" : "'continue' not properly in loop");
    return;
  }
  unwind(u, exit ? i : i + 1, 0);
  u.jump("JUMP", exit ? target.exit : target.next);
}

// ---- with and try

function withItem(u: Unit, s: ast.With, index: number): void {
  const item = s.items[index];
  if (!item) {
    block(u, s.body);
    return;
  }
  const at = { span: item.context.span };
  expression(u, item.context);
  u.emit("BEFORE_WITH", 0, undefined, at);
  u.depth++;
  const [handler, suppress, end] = [new Label(), new Label(), new Label()];
  u.guarded(handler, () => {
    inBlock(u, { kind: "with", at }, () => {
      if (item.target) storeTarget(u, item.target);
      else u.emit("POP_TOP");
      withItem(u, s, index + 1);
    });
  });
  u.depth--;
  u.at = at;
  u.emit("WITH_EXIT");
  u.jump("JUMP", end);
  u.mark(handler);
  u.emit("PUSH_EXC");
  u.emit("WITH_EXCEPT");
  u.jump("POP_JUMP_IF_TRUE", suppress);
  u.emit("RERAISE");
  u.mark(suppress);
  u.emit("POP_TOP");
  u.emit("POP_EXCEPT");
  u.emit("POP_TOP");
  u.mark(end);
}

function tryStatement(u: Unit, s: ast.Try): void {
  if (s.finalbody.length === 0) {
    tryExcept(u, s);
    return;
  }
  const [handler, end] = [new Label(), new Label()];
  u.guarded(handler, () => {
    inBlock(u, { kind: "finally", body: s.finalbody }, () => {
      if (s.handlers.length > 0) tryExcept(u, s);
      else block(u, s.body);
    });
  });
  block(u, s.finalbody);
  u.jump("JUMP", end);
  u.mark(handler);
  u.emit("PUSH_EXC");
  u.depth++;
  u.handling++;
  inBlock(u, { kind: "finally_handler" }, () => block(u, s.finalbody));
  u.depth--;
  u.handling--;
  u.emit("RERAISE");
  u.mark(end);
}

function tryExcept(u: Unit, s: ast.Try): void {
  const [handler, end] = [new Label(), new Label()];
  const body = (): void => inBlock(u, { kind: "try" }, () => block(u, s.body));
  u.guarded(handler, body, s.handlers.length > 0 && s.handlers.every(h => givesUp(h.body)));
  block(u, s.orelse);
  u.jump("JUMP", end);
  u.mark(handler);
  u.emit("PUSH_EXC");
  for (const h of s.handlers) {
    const next = new Label();
    u.at = { span: h.type?.span ?? h.span };
    if (h.type) {
      expression(u, h.type);
      u.emit("CHECK_EXC_MATCH");
      u.jump("POP_JUMP_IF_FALSE", next);
    }
    if (h.name) u.store(h.name);
    else u.emit("POP_TOP");
    u.handling++;
    inBlock(u, { kind: "handler", name: h.name }, () => block(u, h.body));
    u.handling--;
    u.emit("POP_EXCEPT");
    if (h.name) {
      // the name is unbound afterwards; an exception leaving the handler is not worth a second table
      u.emit("LOAD_CONST", 0, null);
      u.store(h.name);
      u.delete(h.name);
    }
    u.jump("JUMP", end);
    u.mark(next);
  }
  u.emit("RERAISE");
  u.mark(end);
}

/** statements that end in `raise` or in an exit */
function givesUp(body: readonly ast.Stmt[]): boolean {
  const last = body[body.length - 1];
  if (last?.kind === "Raise") return true;
  const call = last?.kind === "Expr" && last.value.kind === "Call" ? last.value.func : undefined;
  if (call?.kind === "Name") return call.id === "exit" || call.id === "quit";
  return call?.kind === "Attribute" && (call.attr === "exit" || call.attr === "_exit");
}

// ---- functions and classes

function functionDef(u: Unit, s: ast.FunctionDef): void {
  for (const d of s.decorators) expression(u, d);
  const first = s.decorators[0]?.span.line ?? s.span.line;
  const child = new Unit(u.all, s, u, s.name, u.code.file, u.text, first, "function");
  parameters(child, s.args);
  child.code.docstring = docstring(s.body);
  child.code.body = s.body;
  child.code.isAsync = s.isAsync;
  block(child, s.body);
  child.emit("LOAD_CONST", 0, constant({ type: "None" }));
  child.emit("RETURN_VALUE");
  u.at = { span: s.nameSpan };
  makeFunction(u, child, s.args);
  decorate(u, s.decorators);
  u.at = { span: s.nameSpan };
  u.store(s.name);
}

function decorate(u: Unit, decorators: readonly ast.Expr[]): void {
  for (const d of [...decorators].reverse()) {
    u.emit("CALL", 1, { kwnames: [], method: false, decorator: true } satisfies CallSpec, { span: d.span });
  }
}

function classDef(u: Unit, s: ast.ClassDef): void {
  for (const d of s.decorators) expression(u, d);
  const child = new Unit(u.all, s, u, s.name, u.code.file, u.text, s.span.line, "class");
  child.code.docstring = docstring(s.body);
  block(child, s.body);
  child.emit("LOAD_CONST", 0, null);
  child.emit("RETURN_VALUE");
  const code = child.finish();
  const closure = u.closure(code);
  u.at = { span: s.nameSpan };
  u.emit("MAKE_FUNCTION", 0, { code, defaults: false, kwDefaults: [], closure } satisfies FunctionSpec);
  starredTuple(u, s.bases);
  if (s.keywords.length > 0) keywordDict(u, s.keywords);
  else u.emit("BUILD_MAP", 0);
  u.emit("BUILD_CLASS", 0, s.name);
  decorate(u, s.decorators);
  u.at = { span: s.nameSpan };
  u.store(s.name);
}
