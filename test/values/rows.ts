// Rows of `fuselens values` against recorded ones of eager PyTorch. In: one program's result and its record. Out: what
// differs, in words. Floating rows agree within REL of the value plus REL of the row's mean magnitude, integers exactly.
import type { ValuesReport } from "../../server/src/worker/values";

type Row = ValuesReport["calls"][number]["outputs"][number] & { readonly of?: string };

const REL: Readonly<Record<string, number>> = {
  "torch.float32": 2e-3,
  "torch.float64": 2e-3,
  "torch.float16": 3e-2,
  "torch.bfloat16": 3e-2,
};
const FLOAT8 = 0.15;

const number = (x: number | string): number =>
  typeof x === "number" ? x : x === "nan" ? Number.NaN : x === "inf" ? Infinity : -Infinity;

function close(got0: number | string, want0: number | string, rel: number, scale: number): boolean {
  const [got, want] = [number(got0), number(want0)];
  if (Number.isNaN(got) || Number.isNaN(want)) return Number.isNaN(got) && Number.isNaN(want);
  if (!Number.isFinite(got) || !Number.isFinite(want)) return got === want;
  return Math.abs(got - want) <= rel * Math.abs(want) + rel * scale;
}

function rowFault(got: Row, want: Row): string | null {
  for (const key of ["dtype", "shape", "at"] as const)
    if (JSON.stringify(got[key]) !== JSON.stringify(want[key])) return `${key} is ${got[key]}, not ${want[key]}`;
  if (got.values.length !== want.values.length) return `${got.values.length} values, not ${want.values.length}`;
  const exact = /int|bool/.test(want.dtype);
  const rel = exact ? 0 : (REL[want.dtype] ?? (want.dtype.includes("float8") ? FLOAT8 : 2e-3));
  const total = number(want.abs_sum);
  const finite = Number.isFinite(total) ? total : 0;
  const mean = finite / (want.shape.reduce((a, b) => a * b, 1) || 1);
  for (const [i, w] of want.values.entries())
    if (!close(got.values[i] ?? Number.NaN, w, rel, mean))
      return `at flat index ${want.at[i]}: ${got.values[i]}, not ${w}`;
  for (const key of ["sum", "abs_sum", "wsum"] as const)
    if (!close(got[key], want[key], rel, finite)) return `${key} ${got[key]}, not ${want[key]}`;
  return null;
}

export function faults(got: Partial<ValuesReport>, want: Partial<ValuesReport>): string[] {
  const calls = got.calls ?? [];
  if (calls.length !== (want.calls ?? []).length) return [`${calls.length} calls, not ${want.calls?.length}`];
  const found: string[] = [];
  const rows = (where: string, have: readonly Row[], wanted: readonly Row[]): void => {
    if (have.length !== wanted.length) found.push(`${where}: ${have.length} tensors, not ${wanted.length}`);
    else
      wanted.forEach((w, i) => {
        const g = have[i] as Row;
        const fault = w.of !== undefined && g.of !== w.of ? `is of ${g.of}, not ${w.of}` : rowFault(g, w);
        if (fault) found.push(`${where} ${w.of ?? i}: ${fault}`);
      });
  };
  (want.calls ?? []).forEach((w, c) => {
    rows(`call ${c} output`, calls[c]?.outputs ?? [], w.outputs);
    rows(`call ${c} argument`, calls[c]?.args_after ?? [], w.args_after);
  });
  rows("gradient of", got.grads ?? [], want.grads ?? []);
  return found;
}
