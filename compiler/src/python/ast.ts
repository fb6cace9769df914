// The syntax tree that the rest of the compiler reads: node kinds and fields are those of Python's own `ast` module.
// In: nothing. Out: types, and the few helpers every reader of the tree needs. Every node carries its span.

/** A place in the file: lines are 1-based, columns 0-based in UTF-16 units, offsets 0-based in UTF-16 units. */
export interface Span {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  readonly start: number;
  readonly end: number;
}

interface Base<K extends string> {
  readonly kind: K;
  readonly span: Span;
}

export interface Module {
  readonly kind: "Module";
  readonly body: readonly Stmt[];
}

// ---- statements

export interface FunctionDef extends Base<"FunctionDef"> {
  readonly name: string;
  readonly nameSpan: Span;
  readonly args: Arguments;
  readonly body: readonly Stmt[];
  readonly decorators: readonly Expr[];
  readonly returns: Expr | null;
  readonly isAsync: boolean;
}
export interface ClassDef extends Base<"ClassDef"> {
  readonly name: string;
  readonly nameSpan: Span;
  readonly bases: readonly Expr[];
  readonly keywords: readonly Keyword[];
  readonly body: readonly Stmt[];
  readonly decorators: readonly Expr[];
}
export interface Return extends Base<"Return"> {
  readonly value: Expr | null;
}
export interface Delete extends Base<"Delete"> {
  readonly targets: readonly Expr[];
}
export interface Assign extends Base<"Assign"> {
  readonly targets: readonly Expr[];
  readonly value: Expr;
}
export interface AugAssign extends Base<"AugAssign"> {
  readonly target: Expr;
  readonly op: Operator;
  readonly value: Expr;
}
export interface AnnAssign extends Base<"AnnAssign"> {
  readonly target: Expr;
  readonly annotation: Expr;
  readonly value: Expr | null;
}
export interface For extends Base<"For"> {
  readonly target: Expr;
  readonly iter: Expr;
  readonly body: readonly Stmt[];
  readonly orelse: readonly Stmt[];
  readonly isAsync: boolean;
}
export interface While extends Base<"While"> {
  readonly test: Expr;
  readonly body: readonly Stmt[];
  readonly orelse: readonly Stmt[];
}
export interface If extends Base<"If"> {
  readonly test: Expr;
  readonly body: readonly Stmt[];
  readonly orelse: readonly Stmt[];
}
export interface WithItem {
  readonly context: Expr;
  readonly target: Expr | null;
}
export interface With extends Base<"With"> {
  readonly items: readonly WithItem[];
  readonly body: readonly Stmt[];
  readonly isAsync: boolean;
}
export interface ExceptHandler extends Base<"ExceptHandler"> {
  readonly type: Expr | null;
  readonly name: string | null;
  readonly body: readonly Stmt[];
}
export interface Try extends Base<"Try"> {
  readonly body: readonly Stmt[];
  readonly handlers: readonly ExceptHandler[];
  readonly orelse: readonly Stmt[];
  readonly finalbody: readonly Stmt[];
}
export interface Raise extends Base<"Raise"> {
  readonly exc: Expr | null;
  readonly cause: Expr | null;
}
export interface Assert extends Base<"Assert"> {
  readonly test: Expr;
  readonly msg: Expr | null;
}
export interface Alias {
  readonly name: string;
  readonly asname: string | null;
  readonly span: Span;
}
export interface Import extends Base<"Import"> {
  readonly names: readonly Alias[];
}
export interface ImportFrom extends Base<"ImportFrom"> {
  /** "" for `from . import x` */
  readonly module: string;
  /** leading dots */
  readonly level: number;
  /** one alias named "*" for a wildcard */
  readonly names: readonly Alias[];
}
export interface Global extends Base<"Global"> {
  readonly names: readonly string[];
}
export interface Nonlocal extends Base<"Nonlocal"> {
  readonly names: readonly string[];
}
export interface ExprStmt extends Base<"Expr"> {
  readonly value: Expr;
}
export interface Pass extends Base<"Pass"> {}
export interface Break extends Base<"Break"> {}
export interface Continue extends Base<"Continue"> {}
export interface TypeAlias extends Base<"TypeAlias"> {
  readonly name: string;
  readonly value: Expr;
}
export interface MatchCase {
  readonly pattern: Pattern;
  readonly guard: Expr | null;
  readonly body: readonly Stmt[];
}
export interface Match extends Base<"Match"> {
  readonly subject: Expr;
  readonly cases: readonly MatchCase[];
}
/** A statement that could not be read; running it is reported and skipped. */
export interface ErrorStmt extends Base<"Error"> {
  readonly message: string;
}

export type Stmt =
  | FunctionDef
  | ClassDef
  | Return
  | Delete
  | Assign
  | AugAssign
  | AnnAssign
  | For
  | While
  | If
  | With
  | Match
  | Raise
  | Try
  | Assert
  | Import
  | ImportFrom
  | Global
  | Nonlocal
  | ExprStmt
  | Pass
  | Break
  | Continue
  | TypeAlias
  | ErrorStmt;

// ---- patterns of match

export type Pattern =
  | (Base<"MatchValue"> & { readonly value: Expr })
  | (Base<"MatchSingleton"> & { readonly value: null | boolean })
  | (Base<"MatchSequence"> & { readonly patterns: readonly Pattern[] })
  | (Base<"MatchMapping"> & {
      readonly keys: readonly Expr[];
      readonly patterns: readonly Pattern[];
      readonly rest: string | null;
    })
  | (Base<"MatchClass"> & {
      readonly cls: Expr;
      readonly patterns: readonly Pattern[];
      readonly kwdAttrs: readonly string[];
      readonly kwdPatterns: readonly Pattern[];
    })
  | (Base<"MatchStar"> & { readonly name: string | null })
  | (Base<"MatchAs"> & { readonly pattern: Pattern | null; readonly name: string | null })
  | (Base<"MatchOr"> & { readonly patterns: readonly Pattern[] });

// ---- expressions

export type Operator = "+" | "-" | "*" | "/" | "//" | "%" | "**" | "@" | "<<" | ">>" | "&" | "|" | "^";
export type UnaryOperator = "+" | "-" | "~" | "not";
export type CompareOperator = "==" | "!=" | "<" | "<=" | ">" | ">=" | "is" | "is not" | "in" | "not in";

export interface BoolOp extends Base<"BoolOp"> {
  readonly op: "and" | "or";
  readonly values: readonly Expr[];
}
export interface NamedExpr extends Base<"NamedExpr"> {
  readonly target: Name;
  readonly value: Expr;
}
export interface BinOp extends Base<"BinOp"> {
  readonly left: Expr;
  readonly op: Operator;
  readonly opSpan: Span;
  readonly right: Expr;
}
export interface UnaryOp extends Base<"UnaryOp"> {
  readonly op: UnaryOperator;
  readonly operand: Expr;
}
export interface Lambda extends Base<"Lambda"> {
  readonly args: Arguments;
  readonly body: Expr;
}
export interface IfExp extends Base<"IfExp"> {
  readonly test: Expr;
  readonly body: Expr;
  readonly orelse: Expr;
}
export interface Dict extends Base<"Dict"> {
  /** a null key stands before a mapping that is unpacked */
  readonly keys: readonly (Expr | null)[];
  readonly values: readonly Expr[];
}
export interface SetDisplay extends Base<"Set"> {
  readonly elts: readonly Expr[];
}
export interface Comprehension {
  readonly target: Expr;
  readonly iter: Expr;
  readonly ifs: readonly Expr[];
  readonly isAsync: boolean;
}
export interface ListComp extends Base<"ListComp"> {
  readonly elt: Expr;
  readonly generators: readonly Comprehension[];
}
export interface SetComp extends Base<"SetComp"> {
  readonly elt: Expr;
  readonly generators: readonly Comprehension[];
}
export interface DictComp extends Base<"DictComp"> {
  readonly key: Expr;
  readonly value: Expr;
  readonly generators: readonly Comprehension[];
}
export interface GeneratorExp extends Base<"GeneratorExp"> {
  readonly elt: Expr;
  readonly generators: readonly Comprehension[];
}
export interface Await extends Base<"Await"> {
  readonly value: Expr;
}
export interface Yield extends Base<"Yield"> {
  readonly value: Expr | null;
}
export interface YieldFrom extends Base<"YieldFrom"> {
  readonly value: Expr;
}
export interface Compare extends Base<"Compare"> {
  readonly left: Expr;
  readonly ops: readonly CompareOperator[];
  readonly comparators: readonly Expr[];
}
export interface Keyword {
  /** null for `**mapping` */
  readonly arg: string | null;
  readonly value: Expr;
  readonly span: Span;
}
export interface Call extends Base<"Call"> {
  readonly func: Expr;
  readonly args: readonly Expr[];
  readonly keywords: readonly Keyword[];
}
export interface FormattedValue extends Base<"FormattedValue"> {
  readonly value: Expr;
  readonly conversion: "s" | "r" | "a" | null;
  readonly formatSpec: JoinedStr | null;
}
export interface JoinedStr extends Base<"JoinedStr"> {
  readonly values: readonly (Constant | FormattedValue)[];
}
export type ConstantValue =
  | { readonly type: "int"; readonly value: number | bigint }
  | { readonly type: "float"; readonly value: number }
  | { readonly type: "imaginary"; readonly value: number }
  | { readonly type: "str"; readonly value: string }
  | { readonly type: "bytes"; readonly value: Uint8Array }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "None" }
  | { readonly type: "Ellipsis" };
export interface Constant extends Base<"Constant"> {
  readonly value: ConstantValue;
}
export interface Attribute extends Base<"Attribute"> {
  readonly value: Expr;
  readonly attr: string;
  readonly attrSpan: Span;
}
export interface Subscript extends Base<"Subscript"> {
  readonly value: Expr;
  readonly slice: Expr;
  /** from `[` to the end */
  readonly bracketSpan: Span;
}
export interface Starred extends Base<"Starred"> {
  readonly value: Expr;
}
export interface Name extends Base<"Name"> {
  readonly id: string;
}
export interface List extends Base<"List"> {
  readonly elts: readonly Expr[];
}
export interface Tuple extends Base<"Tuple"> {
  readonly elts: readonly Expr[];
}
export interface Slice extends Base<"Slice"> {
  readonly lower: Expr | null;
  readonly upper: Expr | null;
  readonly step: Expr | null;
}

export type Expr =
  | BoolOp
  | NamedExpr
  | BinOp
  | UnaryOp
  | Lambda
  | IfExp
  | Dict
  | SetDisplay
  | ListComp
  | SetComp
  | DictComp
  | GeneratorExp
  | Await
  | Yield
  | YieldFrom
  | Compare
  | Call
  | FormattedValue
  | JoinedStr
  | Constant
  | Attribute
  | Subscript
  | Starred
  | Name
  | List
  | Tuple
  | Slice;

export interface Arg {
  readonly arg: string;
  readonly annotation: Expr | null;
  readonly span: Span;
}
export interface Arguments {
  readonly posonlyargs: readonly Arg[];
  readonly args: readonly Arg[];
  readonly vararg: Arg | null;
  readonly kwonlyargs: readonly Arg[];
  /** one per keyword-only argument; null where it has none */
  readonly kwDefaults: readonly (Expr | null)[];
  readonly kwarg: Arg | null;
  /** of the last positional arguments */
  readonly defaults: readonly Expr[];
}

export interface SyntaxProblem {
  readonly span: Span;
  readonly message: string;
}

export type Node = Stmt | Expr | Pattern | ExceptHandler;

/**
 * The same tree moved by whole lines and offsets; what an edit above a statement does to it. Columns stay, since a
 * top-level statement starts at the same column wherever it is moved.
 */
export function shiftTree<T>(tree: T, lines: number, offset: number): T {
  if (lines === 0 && offset === 0) return tree;
  const shift = (x: unknown): unknown => {
    if (Array.isArray(x)) return x.map(shift);
    if (x === null || typeof x !== "object" || x instanceof Uint8Array) return x;
    const out: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(x)) out[key] = shift(value);
    if ("endColumn" in x && "start" in x) {
      out.line = (x as Span).line + lines;
      out.endLine = (x as Span).endLine + lines;
      out.start = (x as Span).start + offset;
      out.end = (x as Span).end + offset;
    }
    return out;
  };
  return shift(tree) as T;
}
