// Inputs that stand beside an image: masks, maps and other images of its size. In: the parameters of a forward with their
// choices. Promises: only what stands first among the choices changes, and only of parameters of which nothing else is known.
import type { ImageSize } from "../image_size";
import { type Choice, distinct, type Hole, tensor } from "../types";
import { inputKind, isMapBesideImage, isOtherImage, isVariantOf, SIZES } from "./names";

/** images and maps of usual sizes are of the size that the constructor was given */
export function sized(holes: Hole[], image: ImageSize): void {
  const usual = (c: Choice): boolean =>
    c.kind === "tensor" && c.dims.length > 3 && c.dims.slice(-2).every(n => n === SIZES.image || n === SIZES.map);
  for (const [i, h] of holes.entries()) {
    if (h.written || !h.choices.some(usual)) continue;
    const made = h.choices.map(c =>
      c.kind === "tensor" && usual(c) ? { ...c, dims: [...c.dims.slice(0, -2), ...image] } : c,
    );
    holes[i] = { ...h, choices: distinct([...made, ...h.choices]) };
  }
}

const isImage = (c: Choice | undefined): boolean =>
  c?.kind === "tensor" && c.dims.length === 4 && (c.dims[1] ?? 0) <= 4;

export const isMap = (h: Hole): boolean => inputKind(h.name) === "mask" || isMapBesideImage(h.name);

/** masks and the like beside an image: of its size, of one channel */
export function besideImage(holes: Hole[]): void {
  const image = holes.find((h, i) => (i === 0 || inputKind(h.name) === "image") && isImage(h.choices[0]))?.choices[0];
  const [batch = 1, , ...size] = image?.kind === "tensor" ? image.dims : [];
  if (size.length !== 2) return;
  for (const [i, h] of holes.entries()) {
    const other = isOtherImage(h.name) || isVariantOf(holes[0]?.name ?? "", h.name);
    if (h.required && isFree(h) && image && other && !isImage(h.choices[0]))
      holes[i] = { ...h, choices: distinct([image, ...h.choices]) };
    if (!h.required || !isFree(h) || !isMap(h) || [...h.usage.attributes].some(a => /^(float|bool|long)$/.test(a)))
      continue;
    holes[i] = { ...h, choices: distinct([tensor("float32", [batch, 1, ...size]), ...h.choices]) };
  }
}

/** a tensor of whose shape nothing is known */
export const isFree = (h: Hole): boolean =>
  !h.written && h.usage.rank === undefined && h.usage.written === undefined && h.choices[0]?.kind === "tensor";
