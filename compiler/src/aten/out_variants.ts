// Operators with `out=`. In: a functional operator's record. Out: the record of the form that writes its one result into a
// tensor that is given. Promises: made when it is first asked for, once a record; only a result of the given tensor's shape
// is written, where PyTorch would resize it.
import { inplaceMeta } from "./ops/helpers/define";
import type { MetaBuilder, OpRecord, TensorMeta } from "./types";

const variants = new WeakMap<OpRecord, OpRecord | null>();

/** Null for an operator that has no such form: one that writes or views an argument, or has more results than one. */
export function outVariant(record: OpRecord): OpRecord | null {
  let variant = variants.get(record);
  if (variant === undefined) {
    variant = make(record);
    variants.set(record, variant);
  }
  return variant;
}

export const isOutVariant = (record: OpRecord): boolean => record.functional !== undefined && OUT.test(record.schema);

const OUT = /Tensor\(a!\) out\) -> Tensor\(a!\)$/;

function make(record: OpRecord): OpRecord | null {
  const takes = record.python?.some(p => /^torch\.(linalg\.|special\.|fft\.)?\w+$/.test(p)) ?? false;
  if (!takes || record.functional !== undefined || record.viewOf !== undefined || !/\) -> Tensor$/.test(record.schema))
    return null;
  const keyword = /[(,] ?\*,/.test(record.schema) ? "" : "*, ";
  const [head = "", ...rest] = record.schema.split("(");
  const [packet, overload] = head.split(".");
  const name = overload === undefined || overload === "Tensor" ? "out" : `${overload}_out`;
  const parameters = rest.join("(").replace(/\) -> Tensor$/, "");
  const comma = parameters === "" ? "" : ", ";
  return {
    name: `aten.${packet}.${name}`,
    schema: `${packet}.${name}(${parameters}${comma}${keyword}Tensor(a!) out) -> Tensor(a!)`,
    tags: ["inplace"],
    functional: record.name,
    meta: (m, a) => outMeta(m, a.tensor("out"), record.meta(m, a) as TensorMeta),
  };
}

function outMeta(m: MetaBuilder, out: TensorMeta, result: TensorMeta): TensorMeta {
  const same = out.shape.length === result.shape.length && result.shape.every((s, i) => m.eq(s, out.shape[i] ?? s));
  const text = (t: TensorMeta): string => `[${t.shape.map(s => m.hint(s)).join(", ")}]`;
  if (!same) return m.fail(`out= of shape ${text(out)} would have to be resized to ${text(result)}`);
  return inplaceMeta(m, out, result);
}
