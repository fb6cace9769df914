// Spaces of gym that agents see and act in. In: a name and what the analysed file does with it. Out: choices, likeliest first.
import type { InferContext } from "../context";
import type { Choice } from "../types";

type Space = Extract<Choice, { readonly kind: "space" }>;

const OBSERVATIONS = /(^|_)(observation|obs|ob|state)_space$/;
const ACTIONS = /(^|_)(action|act|ac)_space$/;

const box = (...shape: number[]): Space => ({ kind: "space", shape, actions: 0 });
const discrete = (actions: number): Space => ({ kind: "space", shape: null, actions });

/** sizes of joints and of Atari's screens, as most agents see them */
const NUMBERS = box(17);
const SCREENS = [box(4, 84, 84), box(84, 84, 4), box(3, 64, 64), box(64, 64, 3)];

/** nothing for names that are no space's; `annotation`: as one line of text */
export function spaces(ctx: InferContext, name: string, annotation = ""): Space[] {
  const asks = (text: RegExp): boolean => text.test(ctx.constants.ownText());
  if (ACTIONS.test(name)) {
    const counted = /Discrete/.test(annotation) || ctx.constants.readOf(name).has("n");
    return counted && !/Box/.test(annotation) ? [discrete(6), box(6)] : [box(6), discrete(6)];
  }
  if (!OBSERVATIONS.test(name)) return [];
  return asks(/\bConv2d\(/) && !asks(/\.prod\(/) ? [...SCREENS, NUMBERS] : [NUMBERS, ...SCREENS];
}

/** other spaces in the place of one that led to an error */
export function otherSpaces(s: Space): Space[] {
  const all =
    s.shape === null || s.shape.length === 1 ? [NUMBERS, ...SCREENS, box(6), discrete(6)] : [...SCREENS, NUMBERS];
  return all.filter(o => JSON.stringify(o) !== JSON.stringify(s));
}
