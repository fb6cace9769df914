// What each instruction does to its frame. In: machine, frame, instruction. Out: nothing, or how the frame's run ends.
import type { OpName } from "../code/instructions";
import { CALLS } from "./handlers/calls";
import { CONTROL } from "./handlers/control";
import { NAMES } from "./handlers/names";
import type { Handler } from "./handlers/stack";
import { VALUES } from "./handlers/values";

export type { Runner } from "./handlers/stack";

export const handlers: Readonly<Record<OpName, Handler>> = { ...NAMES, ...VALUES, ...CALLS, ...CONTROL };
