// The module re, on JavaScript's regular expressions. What could take for ever on a text is refused.
import { func, method, methods } from "../builtins/define";
import { PyError } from "../interp/api";
import { NativeArgs } from "../interp/arguments";
import type { Machine } from "../interp/machine";
import { plain } from "../interp/operators";
import { PyInstance, type PyModule, type Value } from "../objects/values";
import { FLAGS, translate } from "./regex_syntax";

const text = (v: Value | undefined): string => String(plain(v ?? null));

/** steps that matching one text may take at worst */
const MAX_MATCHING = 1e8;

interface Found {
  readonly r: RegExpExecArray;
  readonly re: RegExp;
}

/** The module re; its patterns are JavaScript's (regex_syntax.ts). */
export function reModule(vm: Machine): PyModule {
  const m = vm.newModule("re");
  const pattern = vm.klass("Pattern", [], "re");
  const match = vm.klass("Match", [], "re");
  const error = vm.klass("error", [vm.exceptionClass("Exception")], "re");
  m.dict.set("error", error);
  const compiled = new Map<PyInstance, RegExp>();
  const matches = new Map<PyInstance, Found>();
  const regexp = (p: Value, flags: number): RegExp => {
    const known = p instanceof PyInstance ? compiled.get(p) : undefined;
    if (known) return known;
    const given = text(p);
    const t = translate(given, flags);
    // a pattern that could take for ever on the text is refused by its shape
    if (/(\([^)]*[+*][^)]*\))[+*]/.test(t.source)) return vm.raise("ValueError", "pattern is too complex here");
    try {
      return new RegExp(t.source, t.flags);
    } catch {
      const made = vm.call(error, [`cannot read the pattern ${given}`]);
      throw made instanceof PyInstance ? new PyError(made) : vm.makeError("ValueError", []);
    }
  };
  /** matching backtracks: what could take for ever on this text is refused */
  const bounded = (re: RegExp, s: string): RegExp => {
    const loops = (re.source.match(/[^\\][+*]|\{\d*,\}/g) ?? []).length;
    const choices = /\((?:[^()]|\([^()]*\))*\|(?:[^()]|\([^()]*\))*\)(?:[+*]|\{)/.test(re.source);
    if ((choices && s.length > 24) || s.length ** Math.max(1, loops) > MAX_MATCHING)
      return vm.raise("ValueError", "the pattern is too complex for this text");
    vm.room(s.length);
    return re;
  };
  const found = (r: RegExpExecArray | null, re: RegExp): Value => {
    if (!r) return null;
    const o = new PyInstance(match);
    matches.set(o, { r, re });
    o.attrs = vm.dict([["string", r.input]]);
    return o;
  };
  type Call = (p: Value, a: NativeArgs) => Value;
  const at = (a: NativeArgs, name: string): number => vm.index(a.get(name) ?? 0);
  const once =
    (how: "g" | "y", behind = ""): Call =>
    (p, a) => {
      const s = text(a.need("string"));
      const own = bounded(regexp(p, at(a, "flags")), s);
      const re = new RegExp(behind === "" ? own.source : `(?:${own.source})${behind}`, own.flags + how);
      re.lastIndex = at(a, "pos");
      return found(re.exec(s), re);
    };
  const all = (p: Value, a: NativeArgs): Found[] => {
    const s = text(a.need("string"));
    const own = bounded(regexp(p, at(a, "flags")), s);
    const re = new RegExp(own.source, `${own.flags}g`);
    return [...s.matchAll(re)].map(r => ({ r: r as RegExpExecArray, re }));
  };
  const substituted = (p: Value, a: NativeArgs): [string, number] => {
    const [s, by] = [text(a.need("string")), a.need("repl")];
    const most = at(a, "count") || Infinity;
    const some = all(p, a).slice(0, most);
    let [out, last] = ["", 0];
    for (const { r, re } of some) {
      const made = typeof by === "string" ? filledIn(by, r) : vm.str(vm.call(by, [found(r, re)]));
      out += s.slice(last, r.index) + made;
      last = r.index + r[0].length;
      vm.room(out.length);
    }
    return [out + s.slice(last), some.length];
  };
  const split: Call = (p, a) => {
    const s = text(a.need("string"));
    const parts: Value[] = [];
    let last = 0;
    for (const { r } of all(p, a).slice(0, at(a, "maxsplit") || Infinity)) {
      parts.push(s.slice(last, r.index), ...r.slice(1).map(x => x ?? null));
      last = r.index + r[0].length;
    }
    return vm.list([...parts, s.slice(last)]);
  };
  const whole = ({ r }: Found): Value => {
    const groups = r.slice(1).map(x => x ?? "");
    return groups.length > 1 ? vm.tuple(groups) : (groups[0] ?? r[0]);
  };
  const table: Readonly<Record<string, readonly [readonly string[], Call]>> = {
    search: [["string", "pos?"], once("g")],
    match: [["string", "pos?"], once("y")],
    fullmatch: [["string", "pos?"], once("y", "(?![\\s\\S])")],
    findall: [["string"], (p, a) => vm.list(all(p, a).map(whole))],
    finditer: [["string"], (p, a) => vm.iterate(vm.list(all(p, a).map(({ r, re }) => found(r, re))))],
    split: [["string", "maxsplit?"], split],
    sub: [["repl", "string", "count?"], (p, a) => substituted(p, a)[0]],
    subn: [["repl", "string", "count?"], (p, a) => vm.tuple(substituted(p, a))],
  };
  for (const [name, [names, call]] of Object.entries(table)) {
    method(vm, pattern, name, ([p, ...args], kw) => call(p ?? null, new NativeArgs(vm, name, names, args, kw)));
    const own = ["pattern", ...names.filter(n => n !== "pos?"), "flags?"];
    func(vm, m, name, (args, kw) => {
      const a = new NativeArgs(vm, name, own, args, kw);
      return call(a.need("pattern"), a);
    });
  }
  func(vm, m, "compile", (args, kw) => {
    const a = new NativeArgs(vm, "compile", ["pattern", "flags?"], args, kw);
    const p = a.need("pattern");
    if (p instanceof PyInstance && compiled.has(p)) return p;
    const o = new PyInstance(pattern);
    compiled.set(o, regexp(p, at(a, "flags")));
    o.attrs = vm.dict([
      ["pattern", p],
      ["flags", at(a, "flags")],
    ]);
    return o;
  });
  func(vm, m, "escape", ([s]) => text(s).replace(/[\s#$&()*+\-.?[\\\]^{|}~]/g, "\\$&"));
  func(vm, m, "purge", () => null);
  const LONG = { A: "ASCII", I: "IGNORECASE", L: "LOCALE", M: "MULTILINE", S: "DOTALL", U: "UNICODE", X: "VERBOSE" };
  for (const [letter, value] of Object.entries(FLAGS)) {
    m.dict.set(letter, value);
    m.dict.set(LONG[letter as keyof typeof LONG], value);
  }
  const matched = (o: Value): Found =>
    (o instanceof PyInstance ? matches.get(o) : undefined) ?? vm.raise("TypeError", "a match is needed");
  const group = (o: Value, k: Value): Value => {
    const { r } = matched(o);
    const known = typeof k === "string" ? Object.hasOwn(r.groups ?? {}, k) : vm.index(k) < r.length && vm.index(k) >= 0;
    if (!known) return vm.raise("IndexError", "no such group");
    return (typeof k === "string" ? r.groups?.[k] : r[vm.index(k)]) ?? null;
  };
  /** where a group begins and ends; (-1, -1): it took no part */
  const span = (o: Value, k: Value): readonly [number, number] => {
    const { r, re } = matched(o);
    if (k === 0) return [r.index, r.index + r[0].length];
    const again = new RegExp(re.source, `${re.flags.replace(/[gy]/g, "")}dy`);
    again.lastIndex = r.index;
    const places = again.exec(r.input)?.indices;
    return (typeof k === "string" ? places?.groups?.[k] : places?.[vm.index(k)]) ?? [-1, -1];
  };
  methods(vm, match, v => v, {
    group: (o, ks) => (ks.length > 1 ? vm.tuple(ks.map(k => group(o, k))) : group(o, ks[0] ?? 0)),
    groups: (o, [other]) =>
      vm.tuple(
        matched(o)
          .r.slice(1)
          .map(x => x ?? other ?? null),
      ),
    groupdict: (o, [other]) =>
      vm.dict(Object.entries(matched(o).r.groups ?? {}).map(([k, v]) => [k, v ?? other ?? null] as const)),
    start: (o, [k]) => span(o, k ?? 0)[0],
    end: (o, [k]) => span(o, k ?? 0)[1],
    span: (o, [k]) => vm.tuple([...span(o, k ?? 0)]),
    __getitem__: (o, [k]) => group(o, k ?? 0),
  });
  return m;
}

/** a replacement's text: \1, \g<1>, \g<name> and escapes */
function filledIn(by: string, r: RegExpExecArray): string {
  return by.replace(/\\(?:(\d{1,2})|g<(\w+)>|([nrtfv\\]))/g, (_, number?: string, name?: string, letter?: string) => {
    if (letter !== undefined) return ESCAPES[letter] ?? letter;
    const key = number ?? name ?? "";
    return (/^\d+$/.test(key) ? r[Number(key)] : r.groups?.[key]) ?? "";
  });
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v" };
