// Texts that try to get out of the place where they stand, and programs that carry them wherever a program can carry
// text. What breaks out of a target would be seen there as the name PWNED.
import { ODD } from "../python/mutate";
import type { Random } from "../random";

export const MARK = "PWNED";

const BREAKERS = [
  // Python
  `'''\n${MARK}()\n'''`, `"""\n${MARK}()\n"""`, `'); ${MARK}() #`, `"); ${MARK}() #`, `\\'); ${MARK}(); ('`, `\\`, `\n${MARK}()`, `\r${MARK}()`, `\f${MARK}()`, `\u2028${MARK}()`, `{${MARK}()}`, `%(${MARK})s`, `\\N{BULLET}`, `# -*- coding: utf-7 -*-`,
  // WebAssembly text
  `;)) (func (export "${MARK}")) (;`, `\n(func (export "${MARK}"))`, `;;\n(export "${MARK}" (func 0))`, `")) (func (export "${MARK}`,
  // DOT
  `"]; ${MARK} -> ${MARK}; x [label="`, `\\"; ${MARK} [label="`, `<b>${MARK}</b>`, `}; digraph ${MARK} {`, `\\N\\G\\E`, `"]; x [URL="javascript:${MARK}"]; y [label="`,
  // HTML and Markdown
  `<script>${MARK}</script>`, `<img src=x onerror=${MARK}>`, `<a href="javascript:${MARK}">x</a>`, `[x](command:${MARK})`, `](javascript:${MARK}) `, `![x](https://${MARK}/x)`, "``` ` ```` ~~~", `</code></pre><script>${MARK}</script>`, `<!--${MARK}`, `&lt;script&gt;${MARK}`, `<https://${MARK}/>`, `https://${MARK}.example/`, `| a | b |\n|---|---|\n| <i>${MARK}</i> | x |`, `[x]: javascript:${MARK}`, `$(${MARK})`, `\u202e${MARK}`, `" onmouseover="${MARK}" x="`, `' onfocus=${MARK} '`,
  // terminals
  `\x1b]0;${MARK}\x07`, `\x1b[2J${MARK}`, `\u009b2J${MARK}`, `\x1b]8;;https://${MARK}/\x1b\\`, `\x08\x08${MARK}`,
]; // biome-ignore format: a table

export function hostile(r: Random): string {
  return r.many(1, 3, () => r.weighted([[4, () => r.pick(BREAKERS)], [2, () => r.pick(ODD)], [1, () => "x"]])).join(r.pick(["", " ", "\n"])); // biome-ignore format: one expression
}

/** a literal of Python that holds the text */
const literal = (text: string): string =>
  `"${[...text].map(c => (c.length === 1 && /[\w ,.;:<>()[\]{}|=+*/#!?&~^@-]/.test(c) ? c : `\\U${(c.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`)).join("")}"`; // biome-ignore format: one expression

/** on one line of a comment, as text editors leave it */
const comment = (text: string): string => text.replace(/[\n\r]/g, " ");

export interface HostileProgram {
  readonly path: string;
  readonly text: string;
}

export function hostileProgram(r: Random): HostileProgram {
  const h = (): string => hostile(r);
  const l = (): string => literal(h());
  const body = r.pick([
    `    z = (x + y)  # ${comment(h())}\n    return z.sum(dim=-1)`,
    `    z = {${l()}: x + y}\n    return list(z.values())[0].sum(-1)`,
    `    z = x * len(${l()})  # ${comment(h())}\n    return torch.softmax(z, -1) @ y.T`,
    `    assert x.shape[0] == 64, ${l()}\n    return (x.t() + y).sum(0), x.mean(-1)  # ${comment(h())}`,
    `    print(${l()}, x.sum())\n    return x.relu() + y`,
    `    try:\n        raise ValueError(${l()})\n    except ValueError as e:\n        print(e)\n    return x.exp() + len(str(${l()}))`,
    `    return torch.nope_${r.below(9)}(x, ${l()}) + y`,
    `    with torch.profiler.record_function(${l()}):\n        return x.sin() + y`,
    `    return torch.einsum(${l()}, x, y)`,
    `    s = f"{${l()}}{x.shape}"\n    return x + len(s)`,
  ]);
  const modules = r.pick([
    "",
    `\n\nclass M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layers = torch.nn.ModuleDict({${l()}: torch.nn.Linear(64, 64)})\n        setattr(self, ${l()}, torch.nn.Parameter(torch.randn(64)))\n        self.register_buffer(${l()}, torch.ones(64))\n\n    def forward(self, x):\n        for k, m in self.layers.items():\n            x = m(x)\n        for p in self.parameters(recurse=False):\n            x = x + p\n        return x\n\n\ntorch.compile(M().cuda())(torch.randn(64, 64, device="cuda"))`,
    `\n\nT = type(${l()}, (torch.nn.Module,), {"forward": lambda self, x: x.cos() + 1})\ntorch.compile(T())(torch.randn(64, 64, device="cuda"))`,
  ]);
  const text = `"""${comment(h()).replace(/["\\]/g, "")}"""\nimport torch\n\n\n@torch.compile\ndef f(x, y):\n    """${comment(h()).replace(/["\\]/g, "")}"""\n${body}\n\n\nf(torch.randn(64, 64, device="cuda"), torch.randn(64, 64, device="cuda"))${modules}\n`;
  const path = `/fuzz/${h().replace(/[\0]/g, "")}/model${h().replace(/[\0/]/g, "")}.py`;
  return { path, text };
}
