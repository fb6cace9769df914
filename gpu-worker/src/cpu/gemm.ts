// Matrix products over tensor views. In: matrices of any float dtype and strides. Out: dense float32 products. float64
// has a path of its own.
import { GEMM_SCRATCH, MC, NC, NR } from "./builtins/gemm_texts";
import { withDense } from "./dense";
import type { Machine } from "./machine";
import type { TensorView } from "./tensors";

/** c[m, n] (dense rows, `cRow` floats apart) = a @ b, or += with `add`; a and b are 2-d views */
export function gemm(m: Machine, a: TensorView, b: TensorView, c: number, cRow: number, add: boolean): void {
  const [rows = 0, k = 0] = a.size;
  const columns = b.size[1] ?? 0;
  if (rows === 0 || columns === 0) return;
  if (k === 0) {
    if (!add) for (let i = 0; i < rows; i++) new Float32Array(m.buffer, c + 4 * i * cRow, columns).fill(0);
    return;
  }
  withFloat32(m, a, da =>
    withFloat32(m, b, db => {
      const panels = Math.ceil(columns / NR);
      m.borrow(panels * NR * k * 4, packed => {
        const [bRow = 0, bColumn = 0] = db.stride;
        m.builtin("pack_b", [db.address, packed, k, columns, 4 * bRow, 4 * bColumn], panels, Math.ceil(8192 / k));
        const tasks = Math.ceil(rows / MC) * Math.ceil(columns / NC);
        const [aRow = 0, aColumn = 0] = da.stride;
        const args = [da.address, packed, c, rows, k, columns, 4 * aRow, 4 * aColumn, 4 * cRow, add ? 1 : 0];
        m.builtin("gemm", args, tasks, 1, GEMM_SCRATCH);
      });
    }),
  );
}

/** float32 matrices serve with any strides, others are converted */
function withFloat32<T>(m: Machine, t: TensorView, f: (t: TensorView) => T): T {
  if (t.dtype === "float32") return f(t);
  return withDense(m, t, address => f({ ...t, address, dtype: "float32", itemSize: 4, stride: [t.size[1] ?? 1, 1] }));
}
