// The part of numpy that model code uses: arrays on top of CPU tensors, scalars as Python numbers, with a dtype where the program names it. In: nothing. Out:
// Python text that the interpreter runs as library code. Random arrays have unknown values.
import { ARRAYS } from "./arrays";
import { FUNCTIONS } from "./functions";
import { LESS_COMMON } from "./less_common";
import { SCALARS } from "./scalars";

export const NUMPY_TEXT = `${ARRAYS}

${SCALARS}

float_ = double = float64
int_ = intp = longlong = int64
single = float32

${FUNCTIONS}

${LESS_COMMON}`;
