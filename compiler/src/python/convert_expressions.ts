// Expressions of the concrete tree to the typed one. In: RawNode and the file's text. Out: Expr; throws Unreadable (never
// past convert_statements.ts) for a piece that has no reading.
import type * as ast from "./ast";
import { need, only, type Source, textOf, Unreadable } from "./convert_source";
import { strings } from "./convert_strings";
import { parseNumber } from "./literals";
import { field, fields, joinSpans, MAX_DEPTH, named, type RawNode, TOO_DEEP } from "./raw";

const OPERATORS = new Set(["+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"]);
export const isOperator = (s: string): s is ast.Operator => OPERATORS.has(s);

/** names that Python keeps to itself; the grammar takes some of them as names where nothing else fits */
const KEYWORDS = new Set(
  (
    "and as assert async await break class continue def del elif else except finally for from global if import in is " +
    "lambda nonlocal not or pass raise return try while with yield"
  ).split(" "),
);

export function toExpr(src: Source, n: RawNode): ast.Expr {
  const span = n.span;
  switch (n.type) {
    case "identifier":
    case "keyword_identifier":
      if (n.missing) throw new Unreadable(n, "expected a name");
      if (KEYWORDS.has(textOf(src, n))) throw new Unreadable(n, "invalid syntax");
      return { kind: "Name", span, id: textOf(src, n) };
    case "integer":
    case "float": {
      const value = parseNumber(textOf(src, n));
      if (!value) throw new Unreadable(n, "invalid number");
      return { kind: "Constant", span, value };
    }
    case "true":
      return { kind: "Constant", span, value: { type: "bool", value: true } };
    case "false":
      return { kind: "Constant", span, value: { type: "bool", value: false } };
    case "none":
      return { kind: "Constant", span, value: { type: "None" } };
    case "ellipsis":
      return { kind: "Constant", span, value: { type: "Ellipsis" } };
    case "string":
      return strings(src, [n], span, toExpr);
    case "concatenated_string":
      return strings(src, named(n), span, toExpr);
    case "parenthesized_expression": {
      // the value keeps its own span: positions of operators leave parentheses out, as CPython's do
      return toExpr(src, only(n));
    }
    case "expression_list":
      return { kind: "Tuple", span, elts: named(n).map(c => hoistStar(toExpr(src, c))) };
    case "tuple_pattern": {
      const parts = named(n);
      const first = parts[0];
      // a target in parentheses is no tuple: (p) = x binds p, (p,) = x unpacks
      if (parts.length === 1 && first && !n.children.some(c => c.type === ",")) return toExpr(src, first);
      return { kind: "Tuple", span, elts: parts.map(c => toExpr(src, c)) };
    }
    case "tuple":
    case "pattern_list":
      return { kind: "Tuple", span, elts: named(n).map(c => toExpr(src, c)) };
    case "list":
    case "list_pattern":
      return { kind: "List", span, elts: named(n).map(c => hoistStar(toExpr(src, c))) };
    case "set":
      return { kind: "Set", span, elts: named(n).map(c => hoistStar(toExpr(src, c))) };
    case "dictionary": {
      const keys: (ast.Expr | null)[] = [];
      const values: ast.Expr[] = [];
      for (const c of named(n)) {
        if (c.type === "dictionary_splat") {
          keys.push(null);
          values.push(toExpr(src, only(c)));
        } else {
          keys.push(toExpr(src, need(c, "key")));
          values.push(toExpr(src, need(c, "value")));
        }
      }
      return { kind: "Dict", span, keys, values };
    }
    case "list_comprehension":
      return { kind: "ListComp", span, elt: toExpr(src, need(n, "body")), generators: generators(src, n) };
    case "set_comprehension":
      return { kind: "SetComp", span, elt: toExpr(src, need(n, "body")), generators: generators(src, n) };
    case "generator_expression":
      return { kind: "GeneratorExp", span, elt: toExpr(src, need(n, "body")), generators: generators(src, n) };
    case "dictionary_comprehension": {
      const pair = need(n, "body");
      return {
        kind: "DictComp",
        span,
        key: toExpr(src, need(pair, "key")),
        value: toExpr(src, need(pair, "value")),
        generators: generators(src, n),
      };
    }
    case "list_splat":
    case "list_splat_pattern":
    case "parenthesized_list_splat":
      return n.type === "parenthesized_list_splat"
        ? toExpr(src, only(n))
        : { kind: "Starred", span, value: toExpr(src, only(n)) };
    case "attribute": {
      const attr = need(n, "attribute");
      if (attr.missing) throw new Unreadable(attr, "expected an attribute name");
      return {
        kind: "Attribute",
        span,
        value: toExpr(src, need(n, "object")),
        attr: textOf(src, attr),
        attrSpan: attr.span,
      };
    }
    case "subscript": {
      const subs = fields(n, "subscript");
      const first = subs[0];
      const last = subs[subs.length - 1];
      if (!first || !last) throw new Unreadable(n, "expected a subscript");
      const trailingComma = n.children[n.children.length - 2]?.type === ",";
      const elts = subs.map(s => toExpr(src, s));
      const only = elts[0];
      const slice: ast.Expr =
        elts.length === 1 && only && !trailingComma && only.kind !== "Starred"
          ? only
          : { kind: "Tuple", span: joinSpans(first.span, last.span), elts };
      const bracket = n.children.find(c => c.type === "[");
      return {
        kind: "Subscript",
        span,
        value: toExpr(src, need(n, "value")),
        slice,
        bracketSpan: joinSpans((bracket ?? n).span, span),
      };
    }
    case "slice": {
      const parts: (ast.Expr | null)[] = [null, null, null];
      let at = 0;
      for (const c of n.children) {
        if (c.type === ":") at++;
        else if (c.named) parts[at] = toExpr(src, c);
      }
      return { kind: "Slice", span, lower: parts[0] ?? null, upper: parts[1] ?? null, step: parts[2] ?? null };
    }
    case "call":
      return call(src, n);
    case "binary_operator": {
      const op = need(n, "operator");
      if (!isOperator(op.type)) throw new Unreadable(op, "unknown operator");
      return {
        kind: "BinOp",
        span,
        left: toExpr(src, need(n, "left")),
        op: op.type,
        opSpan: op.span,
        right: toExpr(src, need(n, "right")),
      };
    }
    case "unary_operator": {
      const op = need(n, "operator").type;
      const operand = toExpr(src, need(n, "argument"));
      return { kind: "UnaryOp", span, op: op === "-" ? "-" : op === "+" ? "+" : "~", operand };
    }
    case "not_operator":
      return { kind: "UnaryOp", span, op: "not", operand: toExpr(src, need(n, "argument")) };
    case "boolean_operator": {
      const op = need(n, "operator").type === "and" ? "and" : "or";
      const left = toExpr(src, need(n, "left"));
      const right = toExpr(src, need(n, "right"));
      // a and b and c is one BoolOp, as in ast; only an unparenthesised left side joins
      const flat = left.kind === "BoolOp" && left.op === op && need(n, "left").type === "boolean_operator";
      return { kind: "BoolOp", span, op, values: flat ? [...left.values, right] : [left, right] };
    }
    case "comparison_operator": {
      const operands = named(n).filter(c => c.field !== "operators");
      const ops: ast.CompareOperator[] = n.children
        .filter(c => c.field === "operators")
        .map(c => compareOperator(textOf(src, c)))
        .filter(op => op !== null);
      const [left, ...rest] = operands.map(c => toExpr(src, c));
      if (!left || rest.length === 0 || rest.length !== ops.length) throw new Unreadable(n, "invalid comparison");
      return { kind: "Compare", span, left, ops, comparators: rest };
    }
    case "conditional_expression": {
      const [body, test, orelse] = named(n).map(c => toExpr(src, c));
      if (!body || !test || !orelse) throw new Unreadable(n, "expected 'else'");
      return { kind: "IfExp", span, test, body, orelse };
    }
    case "named_expression": {
      const target = need(n, "name");
      return {
        kind: "NamedExpr",
        span,
        target: { kind: "Name", span: target.span, id: textOf(src, target) },
        value: toExpr(src, need(n, "value")),
      };
    }
    case "lambda": {
      const params = field(n, "parameters");
      return { kind: "Lambda", span, args: toArguments(src, params), body: toExpr(src, need(n, "body")) };
    }
    case "await":
      return { kind: "Await", span, value: toExpr(src, only(n)) };
    case "yield": {
      const value = named(n)[0];
      if (n.children.some(c => c.type === "from")) {
        if (!value) throw new Unreadable(n, "expected a value after 'yield from'");
        return { kind: "YieldFrom", span, value: toExpr(src, value) };
      }
      return { kind: "Yield", span, value: value ? toExpr(src, value) : null };
    }
    case "type":
      return toType(src, only(n));
    case "as_pattern":
      throw new Unreadable(n, "'as' is not allowed here");
    case "ERROR":
      throw new Unreadable(n, "invalid syntax");
    case TOO_DEEP:
      throw new Unreadable(n, `nested more than ${MAX_DEPTH} levels deep`);
    default:
      throw new Unreadable(n, `cannot read ${n.type.replace(/_/g, " ")}`);
  }
}

/** the grammar binds `*` too tightly: `*x.shape[1:], y` is read as `(*x).shape[1:], y`, `[*f(x)]` as `[(*f)(x)]` */
function hoistStar(e: ast.Expr): ast.Expr {
  const bare = withoutStar(e);
  return bare ? { kind: "Starred", span: e.span, value: bare } : e;
}

function withoutStar(e: ast.Expr): ast.Expr | undefined {
  switch (e.kind) {
    case "Starred":
      return e.value;
    case "Attribute":
    case "Subscript": {
      const value = withoutStar(e.value);
      return value && { ...e, value };
    }
    case "Call": {
      const func = withoutStar(e.func);
      return func && { ...e, func };
    }
    case "BinOp": {
      const left = withoutStar(e.left);
      return left && { ...e, left };
    }
    default:
      return undefined;
  }
}

function compareOperator(text: string): ast.CompareOperator | null {
  const t = text.replace(/\s+/g, " ");
  switch (t) {
    case "==":
    case "!=":
    case "<":
    case "<=":
    case ">":
    case ">=":
    case "is":
    case "is not":
    case "in":
    case "not in":
      return t;
    default:
      return null; // the old <>
  }
}

/** annotations: the grammar has its own node kinds for generics and unions, which are ordinary expressions in ast */
function toType(src: Source, n: RawNode): ast.Expr {
  switch (n.type) {
    case "type":
    case "constrained_type":
      return toType(src, only(n));
    case "generic_type": {
      const [head, params] = named(n);
      if (!head || !params) throw new Unreadable(n, "invalid annotation");
      const elts = named(params).map(c => toType(src, c));
      const one = elts[0];
      const slice: ast.Expr = elts.length === 1 && one ? one : { kind: "Tuple", span: params.span, elts };
      return { kind: "Subscript", span: n.span, value: toExpr(src, head), slice, bracketSpan: params.span };
    }
    case "union_type": {
      const [left, right] = named(n);
      if (!left || !right) throw new Unreadable(n, "invalid annotation");
      const a = toType(src, left);
      const b = toType(src, right);
      return { kind: "BinOp", span: n.span, left: a, op: "|", opSpan: n.span, right: b };
    }
    case "member_type": {
      const [value, attr] = named(n);
      if (!value || !attr) throw new Unreadable(n, "invalid annotation");
      return {
        kind: "Attribute",
        span: n.span,
        value: toType(src, value),
        attr: textOf(src, attr),
        attrSpan: attr.span,
      };
    }
    case "splat_type":
      return { kind: "Starred", span: n.span, value: toExpr(src, only(n)) };
    default:
      return toExpr(src, n);
  }
}

function generators(src: Source, n: RawNode): ast.Comprehension[] {
  const out: { target: ast.Expr; iter: ast.Expr; ifs: ast.Expr[]; isAsync: boolean }[] = [];
  for (const c of named(n)) {
    if (c.type === "for_in_clause") {
      const right = fields(c, "right").map(r => toExpr(src, r));
      const first = right[0];
      if (!first) throw new Unreadable(c, "expected an iterable");
      out.push({
        target: toExpr(src, need(c, "left")),
        iter: right.length === 1 ? first : { kind: "Tuple", span: c.span, elts: right },
        ifs: [],
        isAsync: c.children[0]?.type === "async",
      });
    } else if (c.type === "if_clause") {
      out[out.length - 1]?.ifs.push(toExpr(src, only(c)));
    }
  }
  return out;
}

function call(src: Source, n: RawNode): ast.Expr {
  const func = toExpr(src, need(n, "function"));
  const list = need(n, "arguments");
  if (list.type === "generator_expression") {
    return { kind: "Call", span: n.span, func, args: [toExpr(src, list)], keywords: [] };
  }
  const { args, keywords } = toCallArguments(src, list);
  return { kind: "Call", span: n.span, func, args, keywords };
}

export function toCallArguments(src: Source, list: RawNode): { args: ast.Expr[]; keywords: ast.Keyword[] } {
  const args: ast.Expr[] = [];
  const keywords: ast.Keyword[] = [];
  for (const c of named(list)) {
    if (c.type === "keyword_argument") {
      const name = textOf(src, need(c, "name"));
      keywords.push({ arg: name, value: toExpr(src, need(c, "value")), span: c.span });
    } else if (c.type === "dictionary_splat") {
      keywords.push({ arg: null, value: toExpr(src, only(c)), span: c.span });
    } else {
      args.push(toExpr(src, c));
    }
  }
  return { args, keywords };
}

export function toArguments(src: Source, params: RawNode | undefined): ast.Arguments {
  const posonlyargs: ast.Arg[] = [];
  const args: ast.Arg[] = [];
  const kwonlyargs: ast.Arg[] = [];
  const kwDefaults: (ast.Expr | null)[] = [];
  const defaults: ast.Expr[] = [];
  let vararg: ast.Arg | null = null;
  let kwarg: ast.Arg | null = null;
  let keywordOnly = false;
  const add = (arg: ast.Arg, value: ast.Expr | null): void => {
    if (keywordOnly) {
      kwonlyargs.push(arg);
      kwDefaults.push(value);
    } else {
      args.push(arg);
      if (value) defaults.push(value);
    }
  };
  const star = (p: RawNode, annotation: ast.Expr | null): boolean => {
    const arg = (n: RawNode): ast.Arg => ({ arg: textOf(src, only(n)), annotation, span: n.span });
    if (p.type === "list_splat_pattern") {
      vararg = arg(p);
      keywordOnly = true;
      return true;
    }
    if (p.type === "dictionary_splat_pattern") {
      kwarg = arg(p);
      return true;
    }
    return false;
  };
  for (const p of params ? named(params) : []) {
    if (p.type === "positional_separator") {
      posonlyargs.push(...args.splice(0));
    } else if (p.type === "keyword_separator") {
      keywordOnly = true;
    } else if (p.type === "identifier") {
      add({ arg: textOf(src, p), annotation: null, span: p.span }, null);
    } else if (p.type === "default_parameter") {
      const name = need(p, "name");
      add({ arg: textOf(src, name), annotation: null, span: name.span }, toExpr(src, need(p, "value")));
    } else if (p.type === "typed_default_parameter") {
      const name = need(p, "name");
      const annotation = toExpr(src, need(p, "type"));
      add({ arg: textOf(src, name), annotation, span: name.span }, toExpr(src, need(p, "value")));
    } else if (p.type === "typed_parameter") {
      const inner = only(p);
      const annotation = toExpr(src, need(p, "type"));
      if (!star(inner, annotation)) add({ arg: textOf(src, inner), annotation, span: inner.span }, null);
    } else if (!star(p, null)) {
      throw new Unreadable(p, "invalid parameter");
    }
  }
  return { posonlyargs, args, vararg, kwonlyargs, kwDefaults, kwarg, defaults };
}
