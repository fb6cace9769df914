// The part of numpy that model code uses: arrays on top of CPU tensors, scalars as Python numbers. In: nothing. Out:
// Python text that the interpreter runs as library code. Random arrays have unknown values.
import { ARRAYS } from "./arrays";
import { FUNCTIONS } from "./functions";
import { LESS_COMMON } from "./less_common";

export const NUMPY_TEXT = `${ARRAYS}

${FUNCTIONS}

${LESS_COMMON}`;
