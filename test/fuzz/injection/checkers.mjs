// The real parsers of each target. Each gives what is wrong with a text, or null; they are asked about many texts, so they
// are made once.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { instance } from "@viz-js/viz";
import MarkdownIt from "markdown-it";
import { parse, parseFragment } from "parse5";

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

/** elements that a drawing, a page or Markdown's own markup is made of; a drawing's anchors only bear tooltips */
const SVG = new Set(["svg", "g", "a", "title", "text", "polygon", "path", "ellipse", "polyline", "tspan", "desc", "#text", "#comment"]); // biome-ignore format: a table
const PAGE = new Set([...SVG, "#documentType", "html", "head", "meta", "style", "body", "script", "div", "span", "p", "strong", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "button", "label", "select", "option", "input", "output", "progress"]); // biome-ignore format: a table
const MARKDOWN = new Set(["p", "strong", "em", "code", "pre", "ul", "ol", "li", "a", "h1", "h2", "h3", "table", "thead", "tbody", "tr", "th", "td", "hr", "br", "blockquote", "#text", "#comment"]); // biome-ignore format: a table

/** `assemble`: WebAssembly text to a module, as the executor makes it */
export async function startCheckers(mark, assemble, python = "python3") {
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
    async wat(text) {
      try {
        const names = WebAssembly.Module.exports(await assemble(text)).map(e => e.name);
        return names.includes(mark) ? `the module exports ${mark}` : null;
      } catch (e) {
        return String(e.message).slice(0, 500);
      }
    },
    dot(text) {
      let json;
      try {
        json = viz.render(text, { format: "json" });
      } catch (e) {
        return `Graphviz ended: ${e.message}\n${text}`;
      }
      if (json.status !== "success")
        return json.errors
          .map(e => e.message)
          .join("; ")
          .slice(0, 500);
      if (json.errors.some(e => e.level === "error")) return json.errors[0].message;
      const graph = JSON.parse(json.output);
      const names = (graph.objects ?? []).map(o => o.name);
      if (names.includes(mark)) return `the graph has a node ${mark}`;
      const svg = draw(text);
      const odd = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.exec(svg);
      return odd ? `no XML: ${JSON.stringify(odd[0])}` : markup(parseFragment(svg), SVG, true);
    },
    markdown: text => markup(parseFragment(markdown.render(text)), MARKDOWN),
    /** a page as it stands in a webview after its messages */
    html(text) {
      const page = parse(text);
      return markup(page, PAGE, true) ?? strangeScript(page);
    },
    /** what a terminal obeys, and lines that the user's text made: ours never begin with it */
    terminal(text) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal obeys
      const obeyed = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.exec(text);
      if (obeyed) return `the control character ${JSON.stringify(obeyed[0])}`;
      return text.split("\n").some(l => l.startsWith(mark)) ? "a line of the user's" : null;
    },
    json(text) {
      try {
        JSON.parse(text);
        return this.terminal(text);
      } catch (e) {
        return e.message;
      }
    },
    draw,
    end: () => child.kill(),
  };

  function draw(text) {
    return viz.renderString(text, { format: "svg" }).replace(/^[\s\S]*?(?=<svg)/, "");
  }

  /** `closed`: nothing in it may lead elsewhere */
  function markup(tree, allowed, closed = false) {
    let wrong = null;
    const visit = node => {
      if (node.nodeName && !node.nodeName.startsWith("#document") && !allowed.has(node.nodeName))
        wrong ??= `an element <${node.nodeName}>`;
      for (const a of node.attrs ?? []) {
        const named = a.name.toLowerCase();
        if (/^on/.test(named) || named.includes(mark.toLowerCase())) wrong ??= `an attribute ${a.name}`;
        if (named === "href" && closed) wrong ??= `a link to ${a.value}`;
        if (/^(href|src|style)$/.test(named) && a.value.toLowerCase().includes(mark.toLowerCase()))
          wrong ??= `a link to ${a.value}`;
      }
      for (const c of node.childNodes ?? []) visit(c);
    };
    visit(tree);
    return wrong;
  }

  /** the one script of a page is ours, by address and nonce */
  function strangeScript(page) {
    const scripts = [];
    const visit = node => {
      if (node.nodeName === "script") scripts.push(node);
      for (const c of node.childNodes ?? []) visit(c);
    };
    visit(page);
    const ours = s =>
      s.attrs.some(a => a.name === "nonce") && s.attrs.some(a => a.name === "src") && !s.childNodes.length;
    return scripts.length === 1 && scripts.every(ours) ? null : `${scripts.length} scripts`;
  }
}
