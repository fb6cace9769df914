// The tensor that a module's first layer takes. In: a built module. Out: a choice for its first input, or nothing.
import { PyInstance, PyList, PyTuple, type Value } from "../objects/values";
import { SIZES } from "./choices/names";
import type { InferContext } from "./context";
import { guarded } from "./guarded";
import { type TensorChoice, tensor } from "./types";

/** layers of times, labels and positions */
const BESIDE =
  /(^|[._])(t|time|temb|timesteps?|label|class|cls|cond|context|ctx|pos|position|sigma|noise|snr|text|txt)([._]|$|_?emb|_?proj|_?mlp)/i;
const LAYERS = /^(Conv(Transpose)?[123]d|BatchNorm[123]d|Linear|Embedding|LSTM|GRU|RNN|Rearrange|Unfold)$/;
const { batch, length, frames } = SIZES;
const PHOTO = [SIZES.image, SIZES.image] as const;
const MAP = [SIZES.map, SIZES.map] as const;
const CLIP = [112, 112] as const;
const STEPS = 1_000_000;

/** A tensor of the shape and dtype that the first layer takes; undefined: no layer says so, or listing the layers fails. */
export function takenByFirstLayer(ctx: InferContext, target: Value): TensorChoice | undefined {
  const { vm, torch } = ctx;
  if (!(target instanceof PyInstance) || !torch.isModule(target)) return undefined;
  const outcome = guarded(ctx, STEPS, () => {
    for (const pair of vm.toArray(vm.call(vm.getattr(target, "named_modules"), []))) {
      const [path, layer] = vm.toArray(pair);
      if (!(layer instanceof PyInstance) || BESIDE.test(String(path))) continue;
      const kind = layer.cls.mro.map(c => c.name).find(n => LAYERS.test(n));
      const owners = [target, ...around(ctx, target, String(path))];
      const taken = kind === undefined ? undefined : takenBy(ctx, kind, layer, owners);
      if (taken) return taken;
    }
    return undefined;
  });
  return "ok" in outcome ? outcome.ok : undefined;
}

/** the modules that a layer lies in, the nearest first */
function around({ vm }: InferContext, target: PyInstance, path: string): PyInstance[] {
  const out: PyInstance[] = [];
  let at: Value | undefined = target;
  for (const name of path.split(".").slice(0, -1)) {
    at = at === undefined ? undefined : vm.getattrOrUndefined(at, name);
    if (at instanceof PyInstance) out.unshift(at);
  }
  return out;
}

/** `owners`: the module that is asked, and those around the layer: what they keep says the size of an image and a clip */
function takenBy(
  ctx: InferContext,
  kind: string,
  layer: PyInstance,
  owners: readonly PyInstance[],
): TensorChoice | undefined {
  const image = owners.map(m => imageSize(ctx, m)).find(size => size !== undefined);
  const read = (name: string): Value | undefined => ctx.vm.getattrOrUndefined(layer, name);
  const size = (...names: readonly string[]): number => {
    const found = names.map(read).find(isCount);
    return typeof found === "number" ? found : 64;
  };
  if (kind === "Embedding") return tensor("int64", [batch, length]);
  if (kind === "Linear") return tensor("float32", [batch, length, size("in_features")]);
  if (kind === "Unfold") return tensor("float32", [batch, 3, ...(image ?? writtenSize(ctx) ?? PHOTO)]);
  if (kind === "Rearrange") return fromPattern(read("pattern"), image);
  const channels = size("in_channels", "num_features");
  if (/1d$/.test(kind)) return tensor("float32", [batch, channels, length]);
  if (/2d$/.test(kind))
    return tensor("float32", [batch, channels, ...(image ?? (channels <= 4 ? (writtenSize(ctx) ?? PHOTO) : MAP))]);
  if (/3d$/.test(kind))
    return tensor("float32", [
      batch,
      channels,
      owners.map(m => frameCount(ctx, m)).find(n => n !== undefined) ?? frames,
      ...(image ?? CLIP),
    ]);
  return tensor("float32", [batch, length, size("input_size")]);
}

/** a layer that cuts images into patches: "b c (h p1) (w p2) -> ..." */
function fromPattern(pattern: Value | undefined, image: Image | undefined): TensorChoice | undefined {
  const left = typeof pattern === "string" ? (pattern.split("->")[0] ?? "") : "";
  const axes = left
    .replace(/\([^)]*\)/g, "()")
    .trim()
    .split(/\s+/);
  return axes.length === 4 ? tensor("float32", [batch, 3, ...(image ?? PHOTO)]) : undefined;
}

type Image = readonly [number, number];

const WRITTEN_SIZE = /\b(?:input|img|image)_size['"]?\s*[:=]\s*[[(]\s*3\s*,\s*(\d+)\s*,\s*(\d+)\s*[\])]/g;

/** the size of images that most of the file's descriptions of pretrained models name: `input_size=(3, 299, 299)` */
function writtenSize(ctx: InferContext): Image | undefined {
  const counts = new Map<string, { readonly size: Image; times: number }>();
  for (const [, h, w] of ctx.constants.ownText().matchAll(WRITTEN_SIZE)) {
    const known = counts.get(`${h}x${w}`);
    if (known) known.times++;
    else counts.set(`${h}x${w}`, { size: [Number(h), Number(w)], times: 1 });
  }
  return [...counts.values()].sort((a, b) => b.times - a.times)[0]?.size;
}

/** the number of frames that a module keeps */
function frameCount({ vm }: InferContext, m: PyInstance): number | undefined {
  const found = ["num_frames", "n_frames", "frames"].map(n => vm.getattrOrUndefined(m, n)).find(isCount);
  return typeof found === "number" ? found : undefined;
}

const isCount = (v: Value | undefined): boolean => typeof v === "number" && v > 0;

/** the image size that a module keeps: img_size, image_size, patch_embed.img_size */
function imageSize({ vm }: InferContext, m: PyInstance): Image | undefined {
  const parts = ["patch_embed", "patch_embedding", "to_patch_embedding"].map(n => vm.getattrOrUndefined(m, n));
  for (const owner of [m, ...parts]) {
    if (!(owner instanceof PyInstance)) continue;
    for (const name of ["img_size", "image_size", "input_resolution", "image_resolution"]) {
      const v = vm.getattrOrUndefined(owner, name);
      const [h, w] = v instanceof PyTuple || v instanceof PyList ? v.items : [v, v];
      if (typeof h === "number" && typeof w === "number") return [h, w];
    }
  }
  return undefined;
}
