// The body of a kernel's run function under construction: locals, repeated expressions kept once, helpers in use.
import type { PlanOrigin } from "../../plan/types";
import { type HelperName, helperTexts } from "./helpers";
import { WatLines } from "./lines";
import type { WasmType } from "./wat_types";

export class FunctionBuilder {
  readonly lines = new WatLines();
  private readonly locals: { readonly name: string; readonly type: WasmType }[] = [];
  private readonly helpers = new Set<HelperName>();
  /** text of an expression → local that holds it, innermost scope last */
  private readonly scopes: Map<string, string>[] = [new Map()];

  local(type: WasmType, hint: string): string {
    const name = `$${hint}${this.locals.length}`;
    this.locals.push({ name, type });
    return name;
  }

  use(helper: HelperName): string {
    this.helpers.add(helper);
    return `$${helper}`;
  }

  /** a local that holds the expression's value; equal texts share one within a scope */
  keep(text: string, type: WasmType, hint = "t"): string {
    if (/^\((local\.get|[fi](32|64)\.const) [^ ()]+\)$/.test(text)) return text;
    for (const scope of this.scopes) {
      const known = scope.get(text);
      if (known !== undefined) return `(local.get ${known})`;
    }
    const name = this.local(type, hint);
    this.lines.add(`(local.set ${name} ${text})`);
    this.scopes[this.scopes.length - 1]?.set(text, name);
    return `(local.get ${name})`;
  }

  /** what is kept inside is forgotten after: the body of a loop or of a branch */
  scope(body: () => void): void {
    this.scopes.push(new Map());
    body();
    this.scopes.pop();
  }

  /** forgets everything kept so far in the innermost scope: memory or a variable changed */
  forget(): void {
    this.scopes[this.scopes.length - 1]?.clear();
  }

  /** for ($variable = from; $variable < to; $variable += 1) */
  loop(variable: string, from: string, to: string, body: () => void): void {
    const end = this.keep(to, "i32", "end");
    const label = variable.slice(1);
    this.lines.add(`(local.set ${variable} ${from})`);
    this.lines.block(`(block $done_${label}`, () => {
      this.lines.block(`(loop $next_${label}`, () => {
        this.lines.add(`(br_if $done_${label} (i32.ge_u (local.get ${variable}) ${end}))`);
        this.scope(body);
        this.lines.add(`(local.set ${variable} (i32.add (local.get ${variable}) (i32.const 1)))`);
        this.lines.add(`(br $next_${label})`);
      });
    });
  }

  module(
    header: string,
    parameters: readonly string[],
  ): { readonly text: string; readonly origins: readonly PlanOrigin[] } {
    const none: PlanOrigin = { lines: [], at: [], nodes: [] };
    const { lines, origins } = this.lines.finish();
    const top = [
      `;; ${header.replace(/[^\x20-\x7e]+/g, " ")}`,
      "(module",
      `(import "env" "memory" (memory 1 65536 shared))`,
      ...helperTexts(this.helpers).flatMap(t => t.split("\n")),
      `(func (export "run") ${parameters.map(p => `(param ${p} i32)`).join(" ")}`,
      ...chunk(
        this.locals.map(l => `(local ${l.name} ${l.type})`),
        8,
      ).map(c => `  ${c.join(" ")}`),
    ];
    const all = [...top, ...lines, "))"];
    return { text: `${all.join("\n")}\n`, origins: [...top.map(() => none), ...origins, none] };
  }
}

function chunk<T>(xs: readonly T[], size: number): T[][] {
  const out: T[][] = [];
  for (let i = 0; i < xs.length; i += size) out.push(xs.slice(i, i + size));
  return out;
}
