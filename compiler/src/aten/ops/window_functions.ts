// Window functions of signals (hann, hamming, ...).

import type { OpRecord } from "../types";
import { fallback, NOT_DIFFERENTIABLE } from "./helpers/define";
import { deviceOf, OPTIONS } from "./helpers/factories";
import { pythonOptions } from "./helpers/python_call";

/** window functions have no formula in Inductor: each is a call */
const windows: OpRecord[] = (["hann", "hamming", "blackman", "bartlett"] as const).flatMap(kind =>
  (["default", "periodic"] as const).map((overload): OpRecord => {
    const name = `aten.${kind}_window.${overload}`;
    const periodic = overload === "periodic";
    const positional = ["window_length", ...(periodic ? ["periodic"] : [])];
    return {
      name,
      schema: `${kind}_window${periodic ? ".periodic" : ""}(int window_length${periodic ? ", bool periodic" : ""}, ${OPTIONS}) -> Tensor`,
      python: [`torch.${kind}_window`],
      tags: ["factory", "extern"],
      meta: (m, a) =>
        m.tensor([a.int("window_length")], { dtype: a.dtype("dtype") ?? m.defaultDType(), device: deviceOf(m, a) }),
      decompose: (b, a) => {
        const given = pythonOptions(b, a);
        return given === null
          ? undefined
          : b.call(
              name,
              positional.map(n => a.raw(n)),
              given,
            );
      },
      derivative: NOT_DIFFERENTIABLE,
      lower: fallback(name, [], positional, ["dtype", "layout", "device", "pin_memory"]),
    };
  }),
);

export const records: readonly OpRecord[] = [...windows];
