// local_response_norm, composed of poolings over channels.
import type { OpRecord } from "../types";
import { aten, fl } from "./helpers/define";
import { composed } from "./helpers/shape";

/** each value over a power of the mean square of the channels around it */
const localResponseNorm = composed({
  name: "torch.nn.functional.local_response_norm.default",
  schema: "local_response_norm(Tensor input, int size, float alpha=0.0001, float beta=0.75, float k=1.0) -> Tensor",
  python: ["torch.nn.functional.local_response_norm"],
  composite: (b, a) => {
    const f = aten(b);
    const [x, size] = [a.tensor("input"), a.int("size")];
    const { shape } = b.meta(x);
    const [n, c, length] = shape;
    if (n === undefined || c === undefined || length === undefined) {
      return b.fail(`Expected 3D or higher dimensionality input (got ${shape.length} dimensions)`, "ValueError");
    }
    const around = [Math.floor(size / 2), Math.floor((size - 1) / 2)];
    const squares = f("mul.Tensor", x, x);
    let mean: typeof x;
    if (shape.length === 3) {
      const padded = f("constant_pad_nd.default", f("unsqueeze.default", squares, 1), [0, 0, ...around], fl(0));
      mean = f("squeeze.dim", f("avg_pool2d.default", padded, [size, 1], [1, 1]), 1);
    } else {
      const rows = f("view.default", squares, [n, 1, c, length, -1]);
      const padded = f("constant_pad_nd.default", rows, [0, 0, 0, 0, ...around], fl(0));
      const pooled = f("squeeze.dim", f("avg_pool3d.default", padded, [size, 1, 1], [1, 1, 1]), 1);
      mean = f("view.default", pooled, shape);
    }
    const scaled = f("add.Tensor", f("mul.Tensor", mean, a.float("alpha")), a.float("k"));
    return f("div.Tensor", x, f("pow.Tensor_Scalar", scaled, a.float("beta")));
  },
});

export const records: readonly OpRecord[] = [localResponseNorm];
