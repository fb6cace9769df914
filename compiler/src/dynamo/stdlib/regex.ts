// The module re, on JavaScript's regular expressions. What could take for ever on a text is refused.
import { func, methods } from "../builtins/define";
import type { Machine } from "../interp/machine";
import { plain } from "../interp/operators";
import { PyInstance, type PyModule, type Value } from "../objects/values";

const text = (v: Value | undefined): string => String(plain(v ?? null));

/** steps that matching one text may take at worst */
const MAX_MATCHING = 1e8;

/** regular expressions: Python's syntax is close enough to JavaScript's for the patterns of model files */
export function reModule(vm: Machine): PyModule {
  const m = vm.newModule("re");
  const pattern = vm.klass("Pattern", [], "re");
  const match = vm.klass("Match", [], "re");
  const compiled = new Map<PyInstance, RegExp>();
  const matches = new Map<PyInstance, RegExpExecArray>();
  const regexp = (p: Value | undefined, flags: string): RegExp => {
    if (p instanceof PyInstance) {
      const known = compiled.get(p);
      if (known) return new RegExp(known.source, known.flags.replace("g", "") + flags.replace(/[^g]/g, ""));
    }
    const source = text(p)
      .replace(/\(\?P</g, "(?<")
      .replace(/\(\?P=(\w+)\)/g, "\\k<$1>")
      .replace(/\\Z/g, "$")
      .replace(/\\A/g, "^");
    // a pattern that could take for ever on the text is refused by its shape
    if (/(\([^)]*[+*][^)]*\))[+*]/.test(source)) return vm.raise("ValueError", "pattern is too complex here");
    try {
      return new RegExp(source, `${flags}s`);
    } catch {
      return vm.raise("ValueError", `cannot read the pattern ${source}`);
    }
  };
  const found = (r: RegExpExecArray | null): Value => {
    if (!r) return null;
    const o = new PyInstance(match);
    matches.set(o, r);
    return o;
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
  const regexpFor = (p: Value | undefined, flags: string, s: string): RegExp => bounded(regexp(p, flags), s);
  const search = (p: Value | undefined, s: string, how: "search" | "match" | "fullmatch"): Value => {
    const re = regexpFor(p, "", s);
    if (how === "search") return found(re.exec(s));
    return found(new RegExp(how === "match" ? `^(?:${re.source})` : `^(?:${re.source})$`, re.flags).exec(s));
  };
  const table = {
    search: (p: Value, [s]: readonly Value[]) => search(p, text(s), "search"),
    match: (p: Value, [s]: readonly Value[]) => search(p, text(s), "match"),
    fullmatch: (p: Value, [s]: readonly Value[]) => search(p, text(s), "fullmatch"),
    findall: (p: Value, [s]: readonly Value[]) =>
      vm.list(
        [...text(s).matchAll(regexpFor(p, "g", text(s)))].map(r =>
          r.length > 2 ? vm.tuple(r.slice(1)) : (r[1] ?? r[0]),
        ),
      ),
    finditer: (p: Value, [s]: readonly Value[]) =>
      vm.iterate(vm.list([...text(s).matchAll(regexpFor(p, "g", text(s)))].map(r => found(r as RegExpExecArray)))),
    split: (p: Value, [s]: readonly Value[]) =>
      vm.list(
        text(s)
          .split(regexpFor(p, "", text(s)))
          .map(x => x ?? null),
      ),
    sub: (p: Value, [by, s]: readonly Value[]) =>
      text(s).replace(regexpFor(p, "g", text(s)), (...r: unknown[]) => {
        if (typeof by !== "string") return vm.str(vm.call(by ?? null, [found(r.slice(0, -2) as RegExpExecArray)]));
        return by.replace(/\\(\d)|\\g<(\w+)>/g, (_, n) => String(r[Number(n)] ?? ""));
      }),
  };
  methods(vm, pattern, v => v, table);
  for (const [name, fn] of Object.entries(table)) func(vm, m, name, ([p, ...args]) => fn(p ?? null, args));
  func(vm, m, "compile", ([p]) => {
    const o = new PyInstance(pattern);
    compiled.set(o, regexp(p, ""));
    o.attrs = vm.dict([["pattern", p ?? ""]]);
    return o;
  });
  func(vm, m, "escape", ([s]) => text(s).replace(/[^\w]/g, "\\$&"));
  for (const [i, name] of ["I", "IGNORECASE", "M", "MULTILINE", "S", "DOTALL", "X", "VERBOSE"].entries())
    m.dict.set(name, i);
  const group = (o: Value, k: Value): Value => {
    const r = o instanceof PyInstance ? matches.get(o) : undefined;
    return (typeof k === "string" ? r?.groups?.[k] : r?.[vm.index(k)]) ?? null;
  };
  methods(vm, match, v => v, {
    group: (o, ks) => (ks.length > 1 ? vm.tuple(ks.map(k => group(o, k))) : group(o, ks[0] ?? 0)),
    groups: o => vm.tuple((o instanceof PyInstance ? (matches.get(o)?.slice(1) ?? []) : []).map(x => x ?? null)),
    groupdict: o => vm.dict(Object.entries((o instanceof PyInstance && matches.get(o)?.groups) || {})),
    start: o => (o instanceof PyInstance ? (matches.get(o)?.index ?? 0) : 0),
    end: o => (o instanceof PyInstance ? (matches.get(o)?.index ?? 0) + (matches.get(o)?.[0].length ?? 0) : 0),
    __getitem__: (o, [k]) => group(o, k ?? 0),
  });
  return m;
}
