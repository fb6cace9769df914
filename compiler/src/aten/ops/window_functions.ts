// Window functions of signals (hann, hamming, ...).

import type { OpRecord } from "../types";
import { fallback, NOT_DIFFERENTIABLE } from "./helpers/define";
import { deviceOf, OPTIONS } from "./helpers/factories";
import { pythonOptions } from "./helpers/python_call";

/** each has one parameter more than the one before, of its own name */
const OVERLOADS = ["default", "periodic", "beta"] as const;

/** window functions have no formula in Inductor: each is a call */
const windows: OpRecord[] = (["hann", "hamming", "blackman", "bartlett", "kaiser"] as const).flatMap(kind =>
  OVERLOADS.slice(0, kind === "kaiser" ? 3 : 2).map((overload, more): OpRecord => {
    const name = `aten.${kind}_window.${overload}`;
    const positional = ["window_length", ...OVERLOADS.slice(1, more + 1)];
    const parameters = ["int window_length", "bool periodic", "float beta"].slice(0, more + 1).join(", ");
    return {
      name,
      schema: `${kind}_window${more > 0 ? `.${overload}` : ""}(${parameters}, ${OPTIONS}) -> Tensor`,
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
