// Whether a setting of torch._inductor.config that a user wrote can be meant. In: a name and a value. Out: what is wrong
// with it, in words that say the option, the value, the expected type and the name that was probably meant.
import { wayParts } from "./inductor/operand_layouts/ways";
import { isGemmWay, WAY_NAMES } from "./inductor/templates/forms";
import { editDistance, nearest } from "./nearest";
import { configNames, presets } from "./presets";

export interface ConfigProblem {
  /** value: of another type; name: nearly a known one; unread: an option that no stage reads, as most of Inductor's are */
  readonly kind: "value" | "name" | "unread";
  readonly text: string;
}

type ConfigType = "boolean" | "integer" | "number" | "text";

/** types of options whose default is None, and of those that take more than their default's type */
const TYPES: Readonly<Record<string, readonly (ConfigType | "none")[]>> = {
  realize_acc_reads_size_threshold: ["integer", "none"],
  max_fusion_unique_io_buffers: ["integer", "none"],
  combo_kernel_max_distance: ["integer", "none"],
  "triton.mix_order_reduction_split_size": ["integer", "none"],
  "triton.mix_order_reduction_max_reads": ["integer", "none"],
  "triton.max_tiles": ["integer", "none"],
  "triton.autotune_at_compile_time": ["boolean", "none"],
  "triton.template_form": ["text", "none"],
  // "torch", "original_aten", "inductor_node", or False
  "triton.descriptive_names": ["text", "boolean"],
};

const WORDS: Readonly<Record<ConfigType | "none", string>> = {
  boolean: "True or False",
  integer: "a whole number",
  number: "a number",
  text: "a string",
  none: "None",
};

/** What is wrong with `name = value`; null: nothing. Types are those of the options' defaults, as in torch.compile(options=...). */
export function checkConfig(name: string, value: unknown): ConfigProblem | null {
  if (!configNames().includes(name)) return unknownName(name);
  const types = configTypes(name);
  if (types.some(t => isOfType(value, t))) return checkText(name, value);
  const expected = types.map(t => WORDS[t]).join(" or ");
  return { kind: "value", text: `torch._inductor.config.${name} takes ${expected}, not ${shown(value)}` };
}

interface TextValues {
  /** one of them is no ... */
  readonly noun: string;
  /** as they are told; of a name with _N in it there are many */
  readonly names: readonly string[];
  readonly accepts: (text: string) => boolean;
  /** whether several may be given with commas between them */
  readonly list: boolean;
  /** what more there is to say of the names */
  readonly note?: string;
}

const oneOf = (noun: string, names: readonly string[]): TextValues => ({
  noun,
  names,
  accepts: text => names.includes(text),
  list: false,
});

/** in upper or lower case, with spaces around, as Inductor reads them */
const backends = (names: readonly string[]): TextValues => ({
  noun: "backend",
  names,
  accepts: text => names.includes(text.trim().toUpperCase()),
  list: true,
});

/** the texts that an option takes, where it does not take any */
const TEXTS: Readonly<Record<string, TextValues>> = {
  max_autotune_gemm_backends: backends(["ATEN", "TRITON", "CUTLASS", "CUTEDSL", "NVGEMM", "CK", "CKTILE", "CPP"]),
  max_autotune_conv_backends: backends(["ATEN", "TRITON", "CK"]),
  "triton.descriptive_names": oneOf("way to name kernels", ["torch", "original_aten", "inductor_node"]),
  "triton.template_form": {
    noun: "way to compute a product",
    names: ["library", ...WAY_NAMES],
    accepts: text => text === "library" || isGemmWay(text),
    list: true,
    note: ", each alone or with _padded or _viewed after it",
  },
};

/** of a list, some may be empty: nothing is said of that one */
function checkText(name: string, value: unknown): ConfigProblem | null {
  const texts = TEXTS[name];
  if (texts === undefined || typeof value !== "string") return null;
  // operands' layouts stand behind the way that they go with
  const base = (text: string): string => (name === "triton.template_form" ? wayParts(text).base : text);
  const parts = texts.list ? value.split(",").filter(t => t.trim() !== "") : [value];
  const wrong = parts.find(t => !texts.accepts(base(t)));
  if (wrong === undefined) return null;
  const single = texts.names.filter(n => !n.includes("_N"));
  const meant = nearest(base(wrong).trim(), single, Math.max(1, Math.floor(wrong.length / 3)));
  const hint = meant ? ` (did you mean '${meant}'?)` : "";
  const all = `there are ${texts.names.join(", ")}${texts.note ?? ""}`;
  return { kind: "value", text: `torch._inductor.config.${name}: '${wrong}' is no ${texts.noun}${hint}; ${all}` };
}

/** types that a known option takes */
function configTypes(name: string): readonly (ConfigType | "none")[] {
  const defaults = Object.values(presets).map(p => p.config[name]);
  return TYPES[name] ?? [typeOf(defaults.find(v => v !== undefined))];
}

function typeOf(value: unknown): ConfigType | "none" {
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "string" ? "text" : "none";
}

function isOfType(value: unknown, type: ConfigType | "none"): boolean {
  switch (type) {
    case "boolean": // 0 and 1, as environment variables spell them
      return typeof value === "boolean" || value === 0 || value === 1;
    case "integer":
      return Number.isInteger(value);
    case "number":
      return typeof value === "number";
    case "text":
      return typeof value === "string";
    case "none":
      return value === null;
  }
}

function shown(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  return typeof value === "string" ? `'${value}'` : JSON.stringify(value);
}

function unknownName(name: string): ConfigProblem {
  const near = nearestName(name);
  if (near) return { kind: "name", text: `torch._inductor.config has no option '${name}': did you mean '${near}'?` };
  const text = `no decision rests on torch._inductor.config.${name}: it is spelled otherwise, or not modelled`;
  return { kind: "unread", text };
}

/**
 * The known name that differs in a few letters, or in the part before its last dot; undefined where none is near. Few: one
 * in six, so that another real option of Inductor's is not taken for a misspelt one.
 */
function nearestName(name: string): string | undefined {
  const key = (n: string): string => n.toLowerCase().replaceAll("-", "_");
  const wanted = key(name);
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const known of configNames()) {
    const last = known.slice(known.lastIndexOf(".") + 1);
    const distance = Math.min(
      editDistance(wanted, key(known)),
      wanted.includes(".") ? Infinity : editDistance(wanted, last),
    );
    if (distance <= Math.min(3, Math.floor(wanted.length / 6)) && distance < (best?.distance ?? Infinity))
      best = { name: known, distance };
  }
  return best?.name;
}
