// Guesses about inputs that a file says nothing of: numbers by the names of parameters, tensors by what a function does
// with them. In: signatures, trees, modules. Out: first guesses, and better ones after torch's own error messages. What
// rests on a guess is always said.
import type { DType } from "../../aten/types";
import type * as ast from "../../python/ast";
import { PyFloat, type Value } from "../objects/values";
import { annotationText } from "./tree";

export interface TensorGuess {
  dtype: DType;
  dims: number[];
  /** dims that a layer or message fixed; the others may be anything */
  readonly fixed: Set<number>;
}

/** sizes that are told apart in error messages */
const DIM_HINTS: Readonly<Record<number, readonly number[]>> = {
  0: [],
  1: [512],
  2: [8, 512],
  3: [8, 512, 768],
  4: [8, 12, 128, 96],
  5: [2, 3, 16, 112, 96],
};

export function tensorOfRank(rank: number, dtype: DType = "float32"): TensorGuess {
  return { dtype, dims: [...(DIM_HINTS[rank] ?? new Array<number>(rank).fill(8))], fixed: new Set() };
}

const NUMBERS: readonly (readonly [RegExp, number])[] = [
  [/^(n_?|num_?)?(heads?|nhead|attention_heads)$|^n_head$|num_heads/, 8],
  [/kv_heads|num_key_value_heads|n_kv/, 8],
  [/head_dim|dim_head|head_size|d_head|d_k$|d_v$/, 64],
  [/vocab|num_tokens|n_token|num_embeddings|num_words/, 32000],
  [/(n_?|num_?)?(layers?|blocks?|depth|stages)$|^depth$|^repeats?$/, 2],
  [/num_classes|n_classes|classes|num_labels|n_out$|output_size/, 10],
  [/^(in_?|input_?)?(chans?|channels|channel)$|in_chans|n_colors|^c_in$|img_channels|image_channels/, 3],
  [/^(in_channels|in_planes|inplanes|in_ch|nin|channels|planes|ch|c1|cin|ch_in|in_c)$/, 64],
  [/^(out_channels|out_planes|out_ch|nout|c2|cout|ch_out|out_c|width|filters|num_filters|features|num_features)$/, 64],
  [/image_size|img_size|input_resolution|resolution/, 224],
  [/patch/, 16],
  [/window/, 7],
  [/kernel/, 3],
  [/stride|dilation|groups?$|expansion|scale_factor|factor|ratio|mult/, 1],
  [/padding|^pad$|pad_idx|drop|dropout/, 0],
  [/block_size|max_len|max_seq|seq_len|context|n_ctx|ctx|max_position|sequence|length|max_pos/, 512],
  [/hidden|intermediate|ffn|d_ff|dim_feedforward|mlp_dim|inner/, 2048],
  [/experts?$/, 8],
  [/top_?k$|^k$/, 2],
  [/rank$|^r$|state|d_state/, 16],
  [/dim|embd|embed|d_model|n_state|size|width|units|features|nf$|^d$|^n$/, 512],
  [/batch/, 8],
  [/(^|_)eps/, 1e-5],
  [/theta|base/, 10000],
];

/** a number for a required parameter, by its name */
export function numberFor(name: string): number | undefined {
  const n = name.toLowerCase();
  return NUMBERS.find(([re]) => re.test(n))?.[1];
}

/** parameters that are floats by name */
export function floatFor(name: string): number | undefined {
  const n = name.toLowerCase();
  if (/drop|^p$|_p$/.test(n)) return 0;
  if (/(^|_)eps/.test(n)) return 1e-5;
  if (/temperature|^temp$|^tau$|scal|alpha|^gain$|lambda|coef|^lr|weight_decay|gamma/.test(n)) return 1;
  if (/theta/.test(n)) return 10000;
  if (/momentum/.test(n)) return 0.1;
  return undefined;
}

/** a sequence of numbers by a parameter's name; `length` 0: as many as such sequences mostly have */
export function sequenceFor(name: string, length: number): Value[] {
  const n = name.toLowerCase();
  const many = (f: (i: number) => number, common: number): Value[] =>
    Array.from({ length: length || common }, (_, i) => f(i));
  if (/depth|blocks?$|layers?$|repeats?|nums?$/.test(n)) return many(() => 2, 4);
  if (/heads?/.test(n)) return many(i => 2 << i, 4);
  if (/dims?|chans?|channels?|widths?|filters?|planes|features|hidden|sizes$|embed/.test(n))
    return many(i => 64 << i, 4);
  if (/shape|resolution|image|img|input/.test(n)) return many(() => 224, 2);
  if (/mult/.test(n)) return many(i => 1 << i, 4);
  if (/drop/.test(n)) return many(() => 0, 4).map(v => new PyFloat(Number(v)));
  return many(() => numberFor(n) ?? 2, 2);
}

const TOKENS =
  /^(idx|ids|input_ids|tokens?|token_ids|src_tokens|tgt_tokens|targets?|labels?|input_tokens|positions?|position_ids|indices|index|inp|word_ids)$/;
const IMAGES = /^(img|image|images|imgs|pixel_values|pixels|frames?_rgb)$/;
const SCALARS =
  /^(n|num|k|p|size|dim|eps|epsilon|scale|alpha|beta|gamma|temperature|temp|step|steps|lr|momentum|start_pos|n_rep|n_heads|num_heads|heads|dropout|dropout_p|training|causal|is_causal|return_\w+|use_\w+|offset|max_len\w*|length|axis|ratio|factor|mode|name|reduction|depth|level|stride|padding|kernel_size|window_size|head_dim|dtype|device|config|cfg|args|self|cls)$|^(is|has|use|do|return|output|need|with|should|apply)_|_(size|dim|heads|len|length|idx|rate|type|mode|ratio|factor|scale)$/;

export type ParameterGuess =
  | { readonly kind: "tensor"; readonly guess: TensorGuess }
  | { readonly kind: "number"; readonly value: number; readonly float: boolean }
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "unknown" };

/** a first guess for one parameter without a default */
export function parameterGuess(arg: ast.Arg, body: readonly ast.Stmt[]): ParameterGuess {
  const annotation = annotationText(arg.annotation);
  if (
    /^(torch\.)?(\w*Tensor)\b/.test(annotation) ||
    /^Optional\[.*Tensor/.test(annotation) ||
    /Tensor\|/.test(annotation)
  ) {
    return { kind: "tensor", guess: tensorGuess(arg.arg, body) };
  }
  if (annotation === "int") return { kind: "number", value: numberFor(arg.arg) ?? 4, float: false };
  if (annotation === "float") return { kind: "number", value: numberFor(arg.arg) ?? 0.5, float: true };
  if (annotation === "bool") return { kind: "bool", value: false };
  if (annotation !== "" && !/Tensor/.test(annotation)) return { kind: "unknown" };
  if (SCALARS.test(arg.arg)) {
    const value = numberFor(arg.arg);
    if (/^(is|has|use|do|return|training|causal)/.test(arg.arg)) return { kind: "bool", value: false };
    return value === undefined ? { kind: "unknown" } : { kind: "number", value, float: false };
  }
  return { kind: "tensor", guess: tensorGuess(arg.arg, body) };
}

function tensorGuess(name: string, body: readonly ast.Stmt[]): TensorGuess {
  if (TOKENS.test(name)) return { ...tensorOfRank(rankOf(name, body) ?? 2, "int64") };
  if (IMAGES.test(name)) return { dtype: "float32", dims: [8, 3, 224, 224], fixed: new Set() };
  const rank = rankOf(name, body);
  if (/mask$/.test(name)) return tensorOfRank(rank ?? 2, "bool");
  return tensorOfRank(rank ?? 3);
}

/** the rank that a function's body implies: `b, t, c = x.shape`, x.shape[3], rearrange(x, "b c h w -> ...") */
export function rankOf(name: string, body: readonly ast.Stmt[]): number | undefined {
  let found: number | undefined;
  let atLeast = 0;
  const isShape = (e: ast.Expr): boolean => {
    if (e.kind === "Attribute" && e.attr === "shape") return e.value.kind === "Name" && e.value.id === name;
    if (e.kind !== "Call" || e.func.kind !== "Attribute" || e.func.attr !== "size" || e.args.length > 0) return false;
    return e.func.value.kind === "Name" && e.func.value.id === name;
  };
  const visit = (x: unknown): void => {
    if (Array.isArray(x)) {
      for (const y of x) visit(y);
      return;
    }
    if (x === null || typeof x !== "object" || !("kind" in x)) {
      if (x !== null && typeof x === "object") for (const v of Object.values(x)) if (typeof v === "object") visit(v);
      return;
    }
    const n = x as ast.Node;
    if (n.kind === "Assign" && isShape(n.value)) {
      const t = n.targets[0];
      if (t?.kind === "Tuple" && !t.elts.some(e => e.kind === "Starred")) found ??= t.elts.length;
    }
    if (n.kind === "Subscript" && isShape(n.value) && n.slice.kind === "Constant" && n.slice.value.type === "int") {
      atLeast = Math.max(atLeast, Number(n.slice.value.value) + 1);
    }
    if (n.kind === "Call" && n.args[0]?.kind === "Name" && n.args[0].id === name) {
      const pattern = n.args[1];
      if (pattern?.kind === "Constant" && pattern.value.type === "str" && pattern.value.value.includes("->")) {
        const left = (pattern.value.value.split("->")[0] ?? "").replace(/\([^)]*\)/g, "g").trim();
        if (!left.includes("...")) found ??= left.split(/\s+/).length;
      }
    }
    for (const v of Object.values(n)) if (typeof v === "object" && v !== null) visit(v);
  };
  visit(body);
  return found ?? (atLeast > 0 ? Math.max(atLeast, 2) : undefined);
}

/** a better guess after an error; false: the message taught nothing */
export function refine(guesses: readonly TensorGuess[], message: string): boolean {
  const setDim = (from: number, to: number, where: "last" | "any" | "channel"): boolean => {
    let changed = false;
    for (const g of guesses) {
      g.dims.forEach((d, i) => {
        if (d !== from || g.fixed.has(i) || from === to) return;
        if (where === "last" && i !== g.dims.length - 1) return;
        if (where === "channel" && i !== 1) return;
        g.dims[i] = to;
        changed = true;
      });
    }
    return changed;
  };
  const setRank = (rank: number): boolean => {
    const g = guesses.find(x => x.dims.length !== rank);
    if (!g) return false;
    const made = tensorOfRank(rank, g.dtype);
    g.dims = made.dims;
    return true;
  };
  let m = /\((\d+)x(\d+) and (\d+)x(\d+)\)/.exec(message);
  if (m && /multipl/.test(message)) {
    const [have, want] = [Number(m[2]), Number(m[3])];
    if (setDim(have, want, "last") || setDim(have, want, "any")) return true;
    // flattened features: the rest of the row is what the layer wants
    const g = guesses[0];
    if (g && g.dims.length > 2) {
      g.dims = [g.dims[0] ?? 8, want];
      return true;
    }
    return false;
  }
  m = /to have (\d+) channels, but got (\d+) channels/.exec(message);
  if (m) return setDim(Number(m[2]), Number(m[1]), "channel") || setDim(Number(m[2]), Number(m[1]), "any");
  m = /normalized_shape=\[([\d, ]+)\].*size\[?([\d, ]+)\]?/s.exec(message);
  if (m) {
    const want = (m[1] ?? "").split(",").map(Number);
    const have = (m[2] ?? "").split(",").map(Number);
    let changed = false;
    want.forEach((w, k) => {
      const h = have[have.length - want.length + k];
      if (h !== undefined && setDim(h, w, "any")) changed = true;
    });
    return changed;
  }
  m = /[Ee]xpected (\d)D(?: \([^)]*\))?(?: or (\d)D)?.*(?:input|got)/.exec(message);
  if (m) return setRank(Number(m[2] ?? m[1]));
  m = /not enough values to unpack \(expected (\d+), got (\d+)\)/.exec(message);
  if (m) return setRank(Number(m[1]));
  m = /too many values to unpack \(expected (\d+)\)/.exec(message);
  if (m) return setRank(Number(m[1]));
  if (/scalar types: Long|dtype.*Long|tensors used as indices must be/.test(message)) {
    const g = guesses.find(x => x.dtype === "float32");
    if (!g) return false;
    g.dtype = "int64";
    if (g.dims.length > 2) g.dims = [8, 512];
    return true;
  }
  m = /The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)/.exec(message);
  if (m) {
    const [a, b] = [Number(m[1]), Number(m[2])];
    return setDim(a, b, "any") || setDim(b, a, "any");
  }
  m =
    /Dimension out of range \(expected to be in range of \[-?\d+, (-?\d+)\], but got (-?\d+)\)|index out of range|tuple index/.exec(
      message,
    );
  if (m) {
    const g = guesses.find(x => x.dims.length < 4);
    return g ? setRank(g.dims.length + 1) : false;
  }
  m = /Wrong shape: expected (\d+) dims\. Received (\d+)-dim/.exec(message);
  if (m) {
    const g = guesses.find(x => x.dims.length === Number(m?.[2]));
    if (!g) return false;
    g.dims = tensorOfRank(Number(m[1]), g.dtype).dims;
    return true;
  }
  return false;
}

const IMAGE_SIZES = [224, 32, 64, 128, 256, 28, 96, 299, 512, 384];

/** another guess where the last error taught nothing; false: there is none left */
export function alternative(guesses: readonly TensorGuess[]): boolean {
  const g = guesses.find(x => x.fixed.size === 0);
  if (!g) return false;
  if (g.dims.length === 4) {
    const [n, c, h] = g.dims;
    const next = IMAGE_SIZES.slice(IMAGE_SIZES.indexOf(h ?? 0) + 1).find(s => s !== h);
    if (next === undefined) return false;
    for (const x of guesses)
      if (x.dims.length === 4 && x.fixed.size === 0)
        x.dims = [n ?? 8, x === g ? (c ?? 3) : (x.dims[1] ?? 3), next, next];
    return true;
  }
  if (g.dims.length === 3) {
    g.dims = [8, 3, 224, 224];
    return true;
  }
  return false;
}
