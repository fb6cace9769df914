// The real parsers of each target. Each gives what is wrong with a text, or null; they are asked about many texts, so they
// are made once.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { instance } from "@viz-js/viz";
import MarkdownIt from "markdown-it";
import { parseFragment } from "parse5";
import loadWabt from "wabt";

const PYTHON = `
import ast, json, sys
sys.set_int_max_str_digits(0) if hasattr(sys, "set_int_max_str_digits") else None
for line in sys.stdin:
    text, mark = json.loads(line)
    said = None
    try:
        tree = ast.parse(text)
        compile(text, "x", "exec")
        for n in ast.walk(tree):
            if getattr(n, "id", None) == mark or getattr(n, "attr", None) == mark or getattr(n, "name", None) == mark:
                said = f"line {getattr(n, 'lineno', '?')} uses the user's text as code"
    except Exception as e:
        said = f"{type(e).__name__}: {e}"
    print(json.dumps(said), flush=True)
`;

const WABT = { threads: true, simd: true, bulk_memory: true, sat_float_to_int: true, mutable_globals: true, sign_extension: true, multi_value: true, relaxed_simd: true }; // biome-ignore format: one record
/** elements that a drawing, or Markdown's own markup, is made of */
const SVG = new Set([
  "svg",
  "g",
  "title",
  "text",
  "polygon",
  "path",
  "ellipse",
  "polyline",
  "tspan",
  "desc",
  "#text",
  "#comment",
]);
const MARKDOWN = new Set(["p", "strong", "em", "code", "pre", "ul", "ol", "li", "a", "h1", "h2", "h3", "table", "thead", "tbody", "tr", "th", "td", "hr", "br", "blockquote", "#text", "#comment"]); // biome-ignore format: a table

export async function startCheckers(mark, python = "python3") {
  const wabt = await loadWabt();
  const viz = await instance();
  const markdown = new MarkdownIt({ html: true, linkify: true });
  const child = spawn(python, ["-I", "-c", PYTHON], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = [];
  let dead = null;
  child.once("error", e => {
    dead = `no Python to parse with: ${e.message}`;
    for (const w of waiting.splice(0)) w(dead);
  });
  child.stdin.on("error", () => undefined);
  createInterface({ input: child.stdout }).on("line", line => waiting.shift()?.(JSON.parse(line)));
  return {
    /** null where this machine has no Python */
    python: text =>
      dead
        ? Promise.resolve(null)
        : new Promise(resolve => {
            waiting.push(said => resolve(said === dead && dead ? null : said));
            child.stdin.write(`${JSON.stringify([text, mark])}\n`);
          }),
    wat(text) {
      let parsed;
      try {
        parsed = wabt.parseWat("kernel.wat", text, WABT);
        const module = new WebAssembly.Module(parsed.toBinary({}).buffer);
        const names = WebAssembly.Module.exports(module).map(e => e.name);
        return names.includes(mark) ? `the module exports ${mark}` : null;
      } catch (e) {
        return String(e.message).slice(0, 500);
      } finally {
        parsed?.destroy();
      }
    },
    dot(text) {
      const json = viz.render(text, { format: "json" });
      if (json.status !== "success")
        return json.errors
          .map(e => e.message)
          .join("; ")
          .slice(0, 500);
      if (json.errors.some(e => e.level === "error")) return json.errors[0].message;
      const graph = JSON.parse(json.output);
      const names = (graph.objects ?? []).map(o => o.name);
      if (names.includes(mark)) return `the graph has a node ${mark}`;
      return markup(viz.renderString(text, { format: "svg" }).replace(/^[\s\S]*?(?=<svg)/, ""), SVG);
    },
    markdown: text => markup(markdown.render(text), MARKDOWN),
    end: () => child.kill(),
  };

  function markup(html, allowed) {
    let wrong = null;
    const visit = node => {
      if (node.nodeName && node.nodeName !== "#document-fragment" && !allowed.has(node.nodeName))
        wrong ??= `an element <${node.nodeName}>`;
      for (const a of node.attrs ?? []) {
        if (/^on/i.test(a.name)) wrong ??= `an attribute ${a.name}`;
        if (/^(href|src|xlink:href)$/i.test(a.name) && a.value.toLowerCase().includes(mark.toLowerCase()))
          wrong ??= `a link to ${a.value}`;
      }
      for (const c of node.childNodes ?? []) visit(c);
    };
    visit(parseFragment(html));
    return wrong;
  }
}
