// The layers of torch.nn. A layer that is one functional call is a line of a table: its constructor, and the call as the
// pre-grad graph shows it (argument order and keywords matter: they decide the order of graph inputs). Layers with
// structure are written out. Everything is compiled on first use.
import { CONTAINERS } from "./containers";
import { CONV } from "./conv";
import { LAZY_LAYERS } from "./lazy";
import { LINEAR } from "./linear";
import { LOSS } from "./loss";
import { NORM } from "./norm";
import { POOL } from "./pool";
import { RECURRENT } from "./recurrent";
import { LOSSES, pools, SIMPLE, WEIGHTED } from "./simple";
import { TRANSFORMER } from "./transformer";

function simpleClass(
  [name, params, expression]: readonly [string, string, string],
  inputs = "input",
  base = "Module",
): string {
  const names = params === "" ? [] : params.split(",").map(p => p.trim().split("=")[0] ?? "");
  const keep = names.filter(n => n !== "size_average" && n !== "reduce" && !(n === "weight" && base === "_Weighted"));
  const rest = expression.includes("*rest") ? ", *rest" : "";
  const lines = keep.map(
    n => `        self.${n} = ${n === "stride" && /Pool/.test(name) ? "kernel_size if stride is None else stride" : n}`,
  );
  const weight = base === "_Weighted" ? "        self.register_buffer('weight', weight)\n" : "";
  const pos = names.includes("pos_weight") ? "        self.register_buffer('pos_weight', pos_weight)\n" : "";
  const body = lines.filter(l => !l.includes("self.pos_weight")).join("\n");
  const init =
    params === "" && base === "Module"
      ? ""
      : `    def __init__(self${params ? `, ${params}` : ""}):\n        super().__init__()\n${weight}${pos}${body ? `${body}\n` : ""}\n`;
  return `class ${name}(${base === "_Weighted" ? "Module" : base}):\n${init}    def forward(self, ${inputs}${rest}):\n        return ${expression}\n`;
}

const STRUCTURED: Readonly<Record<string, string>> = {
  ...LINEAR,
  ...NORM,
  ...CONV,
  ...LOSS,
  ...POOL,
  ...CONTAINERS,
  ...TRANSFORMER,
  ...RECURRENT,
  ...LAZY_LAYERS,
};

function buildUnits(): ReadonlyMap<string, string> {
  const units = new Map<string, string>();
  for (const e of [...SIMPLE, ...pools()]) units.set(e[0], simpleClass(e));
  for (const e of LOSSES) units.set(e[0], simpleClass(e, "input, target"));
  for (const e of WEIGHTED) units.set(e[0], simpleClass(e, "input, target", "_Weighted"));
  for (const [name, text] of Object.entries(STRUCTURED)) units.set(name, text);
  return units;
}

/** unit name → Python text; a unit may define several classes */
export const LAYER_UNITS: ReadonlyMap<string, string> = buildUnits();

/** class → the unit that defines it */
export const LAYER_HOME: ReadonlyMap<string, string> = new Map(
  [...LAYER_UNITS].flatMap(([unit, text]) =>
    [...text.matchAll(/^(?:class|def) (\w+)/gm)].map(m => [m[1] ?? "", unit] as const),
  ),
);
