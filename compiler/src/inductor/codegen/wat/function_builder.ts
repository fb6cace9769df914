// A kernel's functions under construction: locals, repeated expressions kept once, helpers in use. In: statements as
// text. Out: a module's text with the origins of each line. Promises: a kept expression is used only where it was
// worked out, that is in the same or an inner scope.
import type { PlanOrigin } from "../../plan/types";
import { type HelperName, helperTexts } from "./helpers/index";
import { type CapturedLines, commentText, LINE_NUMBER, NO_ORIGIN, WatLines } from "./lines";

export type LocalType = "i32" | "i64" | "f32" | "f64" | "v128";

export class ModuleBuilder {
  private readonly helpers = new Set<HelperName>();
  private readonly functions: {
    readonly head: string;
    readonly locals: readonly string[];
    readonly body: CapturedLines;
  }[] = [];

  use(helper: HelperName): string {
    this.helpers.add(helper);
    return `$${helper}`;
  }

  /** adds an exported function; the parameters are all i32 */
  define(name: string, parameters: readonly string[], f: FunctionBuilder): void {
    const head = `(func (export "${name}") ${parameters.map(p => `(param ${p} i32)`).join(" ")}`;
    this.functions.push({ head, locals: f.localTexts(), body: f.lines.finish() });
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
    for (const { head, locals, body } of this.functions) {
      plain(head);
      for (let i = 0; i < locals.length; i += 8) plain(`    ${locals.slice(i, i + 8).join(" ")}`);
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

export class FunctionBuilder {
  readonly lines = new WatLines();
  private readonly locals: { readonly name: string; readonly type: LocalType }[] = [];
  /** text of an expression → local that holds it, innermost scope last */
  private readonly scopes: Map<string, string>[] = [new Map()];

  constructor(readonly module: ModuleBuilder) {}

  local(type: LocalType, hint: string): string {
    const name = `$${hint}${this.locals.length}`;
    this.locals.push({ name, type });
    return name;
  }

  localTexts(): string[] {
    return this.locals.map(l => `(local ${l.name} ${l.type})`);
  }

  use(helper: HelperName): string {
    return this.module.use(helper);
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

  /** for ($variable = from; $variable < to; $variable += step), unsigned */
  loop(variable: string, from: string, to: string, body: () => void, step = 1): void {
    const end = this.keep(to, "i32", "end");
    const label = variable.slice(1);
    this.set(variable, from);
    this.lines.block(`(block $done_${label}`, () => {
      this.lines.block(`(loop $next_${label}`, () => {
        this.lines.add(`(br_if $done_${label} (i32.ge_u (local.get ${variable}) ${end}))`);
        this.scope(body);
        this.set(variable, `(i32.add (local.get ${variable}) (i32.const ${step}))`);
        this.lines.add(`(br $next_${label})`);
      });
    });
  }

  /** runs `body` where the condition holds */
  branch(condition: string, body: () => void): void {
    this.lines.block(`(if ${condition} (then`, () => this.scope(body), "))");
  }
}
