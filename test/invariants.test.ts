// The design's invariants that can be read off the source: who may import what, and that no circle exists.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(__dirname, "..");

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(e => {
    const path = join(folder, e.name);
    if (e.isDirectory()) return e.name === "node_modules" || e.name === "out" || e.name === "dist" ? [] : sources(path);
    return /\.ts$/.test(e.name) && !/\.test\.ts$/.test(e.name) ? [path] : [];
  });
}

/** module specifiers of a file, type-only ones included */
function imports(path: string): string[] {
  const text = readFileSync(path, "utf8")
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/^\s*\/\/.*$/gm, "");
  return [
    ...text.matchAll(
      /(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s*["']([^"']+)["']|import\(\s*["']([^"']+)["']\s*\)|(?:^|\n)import\s*["']([^"']+)["']/g,
    ),
  ].map(m => m[1] ?? m[2] ?? m[3] ?? "");
}

function target(from: string, specifier: string): string | null {
  if (!specifier.startsWith(".")) return null;
  const base = resolve(dirname(from), specifier);
  return (
    [`${base}.ts`, join(base, "index.ts"), base].find(p => {
      try {
        return statSync(p).isFile();
      } catch {
        return false;
      }
    }) ?? null
  );
}

const inside = (path: string): string => relative(root, path);
const production = (path: string): boolean => !path.includes("/testing/") && !/\/test_[^/]*\.ts$/.test(path);
const compiler = sources(join(root, "compiler", "src")).filter(production);

describe("invariants", () => {
  it("keep the compiler free of I/O but its parser", () => {
    const allowed = new Set(["tree-sitter", "tree-sitter-python", "node:crypto"]);
    const bad = compiler.flatMap(f =>
      imports(f)
        .filter(i => !i.startsWith(".") && !allowed.has(i))
        .map(i => `${inside(f)} imports ${i}`),
    );
    expect(bad).toEqual([]);
  });

  it("keep the parser's libraries in python/", () => {
    const bad = compiler.filter(f => !f.includes("/src/python/") && imports(f).some(i => i.startsWith("tree-sitter")));
    expect(bad.map(inside)).toEqual([]);
  });

  it("let operator records import nothing but their vocabulary", () => {
    const records = compiler.filter(f => f.includes("/aten/ops/"));
    expect(records.length).toBeGreaterThan(10);
    const bad = records.flatMap(f =>
      imports(f).flatMap(i => {
        const to = target(f, i);
        const fine = to !== null && (to.endsWith("/aten/types.ts") || to.includes("/aten/ops/"));
        return fine ? [] : [`${inside(f)} imports ${i}`];
      }),
    );
    expect(bad).toEqual([]);
  });

  it("let no stage but presets.ts and the session's options read a preset's name", () => {
    const bad = compiler.filter(
      f =>
        !/\/(presets|session_options)\.ts$/.test(f) &&
        /["'](nightly-2026-11|torch-2\.11)["']/.test(readFileSync(f, "utf8")),
    );
    expect(bad.map(inside)).toEqual([]);
  });

  it("share nothing but protocol and plan between server and worker, and nothing of them with the client", () => {
    const server = sources(join(root, "server", "src")).flatMap(f =>
      imports(f)
        .filter(i => i.startsWith("@fuselens/gpu-worker") && i !== "@fuselens/gpu-worker/protocol")
        .map(i => `${inside(f)} imports ${i}`),
    );
    const worker = sources(join(root, "gpu-worker", "src")).flatMap(f =>
      imports(f)
        .filter(i => i.startsWith("@fuselens/") && i !== "@fuselens/compiler/plan")
        .map(i => `${inside(f)} imports ${i}`),
    );
    const client = sources(join(root, "client", "src")).flatMap(f =>
      imports(f)
        .filter(i => i.startsWith("@fuselens/"))
        .map(i => `${inside(f)} imports ${i}`),
    );
    expect([...server, ...worker, ...client]).toEqual([]);
  });

  it("keep the schemas of messages out of the CPU executor, which starts sooner without them", () => {
    const schemas = /(?:^|\n)import (?!type)[^;]*from "(?:\.\.\/)+protocol(?:\/(?:index|jobs|messages))?"/;
    const bad = sources(join(root, "gpu-worker/src/cpu")).filter(f => schemas.test(readFileSync(f, "utf8")));
    expect(bad.map(f => relative(root, f))).toEqual([]);
  });

  it("have no import circle", () => {
    const files = ["compiler", "gpu-worker", "server", "client"].flatMap(p => sources(join(root, p, "src")));
    const edges = new Map(files.map(f => [f, imports(f).flatMap(i => target(f, i) ?? [])]));
    const state = new Map<string, "open" | "done">();
    const circles: string[] = [];
    const visit = (f: string, path: readonly string[]): void => {
      if (state.get(f) === "done") return;
      if (state.get(f) === "open") {
        circles.push([...path.slice(path.indexOf(f)), f].map(inside).join(" -> "));
        return;
      }
      state.set(f, "open");
      for (const next of edges.get(f) ?? []) visit(next, [...path, f]);
      state.set(f, "done");
    };
    for (const f of files) visit(f, []);
    expect(circles).toEqual([]);
  });
});
