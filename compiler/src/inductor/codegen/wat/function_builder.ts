// A kernel's functions under construction: locals, repeated expressions kept once, helpers in use. In: statements as
// text. Out: a module's text with the origins of each line. Promises: a kept expression is used only where it was
// worked out, that is in the same or an inner scope.
import type { PlanOrigin } from "../../plan/types";
import { type HelperName, helperTexts } from "./helpers/index";
import { VECTOR_FUNCTIONS, type VectorFunction } from "./helpers/vector_functions";
import { type CapturedLines, commentText, LINE_NUMBER, NO_ORIGIN, WatLines } from "./lines";

export type LocalType = "i32" | "i64" | "f32" | "f64" | "v128";

export class ModuleBuilder {
  private readonly helpers = new Set<HelperName>();
  private readonly functions: {
    readonly head: string;
    readonly locals: readonly string[];
    readonly constants: readonly string[];
    readonly body: CapturedLines;
  }[] = [];

  use(helper: HelperName): string {
    this.helpers.add(helper);
    return `$${helper}`;
  }

  /** adds an exported function; the parameters are all i32 */
  define(name: string, parameters: readonly string[], f: FunctionBuilder): void {
    const head = `(func (export "${name}") ${parameters.map(p => `(param ${p} i32)`).join(" ")}`;
    this.functions.push({ head, locals: f.localTexts(), constants: f.constantTexts(), body: f.lines.finish() });
  }

  finish(header: string): { readonly text: string; readonly origins: readonly PlanOrigin[] } {
    const texts: string[] = [];
    const origins: PlanOrigin[] = [];
    const plain = (text: string): void => {
      for (const line of text.split("\n")) {
        texts.push(line);
        origins.push(NO_ORIGIN);
      }
    };
    plain(`;; ${commentText(header)}`);
    plain("(module");
    plain('(import "env" "memory" (memory 1 65536 shared))');
    for (const h of helperTexts(this.helpers)) plain(h);
    for (const { head, locals, constants, body } of this.functions) {
      plain(head);
      for (let i = 0; i < locals.length; i += 8) plain(`    ${locals.slice(i, i + 8).join(" ")}`);
      for (const c of constants) plain(`    ${c}`);
      body.texts.forEach((t, i) => {
        texts.push(t.replaceAll(LINE_NUMBER, `(i32.const ${texts.length + 1})`));
        origins.push(body.origins[i] ?? NO_ORIGIN);
      });
      plain(")");
    }
    plain(")");
    return { text: `${texts.join("\n")}\n`, origins };
  }
}

const PRODUCT = /^\(f32x4\.mul (\(local\.get [^ ()]+\)) (\(local\.get [^ ()]+\))\)$/;
const SPLAT = /^\(v128\.const f32x4 (\S+) \1 \1 \1\)$/;

export class FunctionBuilder {
  readonly lines = new WatLines();
  private readonly locals: { readonly name: string; readonly type: LocalType }[] = [];
  /** text of an expression → local that holds it, innermost scope last */
  private readonly scopes: Map<string, string>[] = [new Map()];

  private readonly constants = new Map<string, string>();
  /** expression that a kept local holds, wherever it is in scope */
  private readonly kept = new Map<string, string>();

  constructor(readonly module: ModuleBuilder) {}

  local(type: LocalType, hint: string): string {
    const name = `$${hint}${this.locals.length}`;
    this.locals.push({ name, type });
    return name;
  }

  localTexts(): string[] {
    return this.locals.map(l => `(local ${l.name} ${l.type})`);
  }

  constantTexts(): string[] {
    return [...this.constants].map(([text, local]) => `(local.set ${local} ${text})`);
  }

  use(helper: HelperName): string {
    return this.module.use(helper);
  }

  /** a local that holds a vector constant throughout the function: V8 takes four instructions to make one */
  constant(text: string): string {
    let local = this.constants.get(text);
    if (local === undefined) {
      local = this.local("v128", "c");
      this.constants.set(text, local);
    }
    return `(local.get ${local})`;
  }

  /** a function of the four f32 (or, of conversions, patterns) in a local; equal ones are worked out once in a scope */
  vectorFunction(name: VectorFunction, x: string): string {
    const key = `${name} ${x}`;
    for (const scope of this.scopes) {
      const known = scope.get(key);
      if (known !== undefined) return `(local.get ${known})`;
    }
    const result = VECTOR_FUNCTIONS[name](this, x);
    this.scopes[this.scopes.length - 1]?.set(key, result.slice("(local.get ".length, -1));
    return result;
  }

  scaled(x: string): { readonly of: string; readonly by: number } | null {
    const text = (local: string): string => this.kept.get(local.slice("(local.get ".length, -1)) ?? local;
    const [, a = "", b = ""] = PRODUCT.exec(text(x)) ?? [];
    for (const [of, factor] of [
      [a, b],
      [b, a],
    ] as const) {
      const by = SPLAT.exec(text(factor))?.[1];
      if (of && by !== undefined && Number.isFinite(Number(by))) return { of, by: Math.fround(Number(by)) };
    }
    return null;
  }

  set(local: string, text: string): void {
    this.lines.add(`(local.set ${local} ${text})`);
  }

  /** a local that holds the expression's value; equal texts share one within a scope */
  keep(text: string, type: LocalType, hint = "t"): string {
    if (/^\((local\.get|[fi](32|64)\.const) [^ ()]+\)$/.test(text)) return text;
    for (const scope of this.scopes) {
      const known = scope.get(text);
      if (known !== undefined) return `(local.get ${known})`;
    }
    const name = this.local(type, hint);
    this.set(name, text);
    this.kept.set(name, text);
    this.scopes[this.scopes.length - 1]?.set(text, name);
    return `(local.get ${name})`;
  }

  /** what is kept inside is forgotten after: the body of a loop or of a branch */
  scope(body: () => void): void {
    this.scopes.push(new Map());
    body();
    this.scopes.pop();
  }

  /** what `body` emits, taken out again; if it throws, everything is as it was but for unused locals */
  attempt(body: () => void): CapturedLines {
    const scopes = this.scopes.map(s => new Map(s));
    try {
      return this.lines.capture(body);
    } catch (e) {
      this.scopes.splice(0, this.scopes.length, ...scopes);
      throw e;
    }
  }

  /**
   * for ($variable = from; $variable < to; $variable += step), unsigned. The test stands at the end: V8 moves what does
   * not change out of a loop only if every turn comes to it, so not past a test at the beginning.
   */
  loop(variable: string, from: string, to: string, body: () => void, step = 1): void {
    const end = this.keep(to, "i32", "end");
    const label = variable.slice(1);
    const unfinished = `(i32.lt_u (local.get ${variable}) ${end})`;
    this.set(variable, from);
    this.lines.block(
      `(if ${unfinished} (then`,
      () => {
        this.lines.block(`(loop $next_${label}`, () => {
          this.scope(body);
          this.set(variable, `(i32.add (local.get ${variable}) (i32.const ${step}))`);
          this.lines.add(`(br_if $next_${label} ${unfinished})`);
        });
      },
      "))",
    );
  }

  /** runs `body` where the condition holds */
  branch(condition: string, body: () => void): void {
    this.lines.block(`(if ${condition} (then`, () => this.scope(body), "))");
  }
}
