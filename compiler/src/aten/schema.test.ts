import { describe, expect, it, test } from "vitest";
import { makeArgs } from "./args";
import { bindArguments, resolveOverload } from "./bind";
import { isExpr, makeDimMath, STATIC_GUARDS } from "./dim_math";
import { elementwiseMeta, makeMetaBuilder } from "./meta_builder";
import { promoteTypes, resultType } from "./promotion";
import { parseSchema } from "./schema";
import { type OpRecord, PyFloat, type TensorMeta } from "./types";

const m = makeMetaBuilder(STATIC_GUARDS);
const isTensor = (x: unknown): x is TensorMeta => typeof x === "object" && x !== null && "shape" in x;
const host = { isTensor, isDim: m.isDim, int: m.int, specialize: (d: never) => m.static(d) ?? 0 };
const cuda = { type: "cuda", index: 0 } as const;
const f32 = (shape: number[], stride?: number[]): TensorMeta =>
  m.tensor(shape, { dtype: "float32", device: cuda }, stride);
const none = new Map<string, never>();

describe("schemas", () => {
  it("parse types, defaults, aliases and keyword-only parameters", () => {
    const s = parseSchema(
      "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    );
    expect(s.packet).toBe("sum");
    expect(s.overload).toBe("dim_IntList");
    expect(s.parameters.map(p => [p.name, p.keywordOnly, p.defaultValue])).toEqual([
      ["self", false, undefined],
      ["dim", false, undefined],
      ["keepdim", false, false],
      ["dtype", true, null],
    ]);
    expect(s.parameters[1]?.type).toEqual({ base: "int", list: 1, optional: true, optionalItems: false });
    const v = parseSchema("split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]");
    expect(v.parameters[0]?.alias).toBe("a");
    expect(v.returns[0]?.type.list).toBe(true);
    const i = parseSchema("index.Tensor(Tensor self, Tensor?[] indices) -> Tensor");
    expect(i.parameters[1]?.type.optionalItems).toBe(true);
    const e = parseSchema("native_layer_norm(Tensor input, float eps=1e-05) -> (Tensor, Tensor, Tensor)");
    expect(e.parameters[1]?.defaultValue).toEqual(new PyFloat(1e-5));
    expect(e.returns).toHaveLength(3);
  });

  it("bind sizes given one by one", () => {
    const s = parseSchema("view(Tensor(a) self, SymInt[] size) -> Tensor(a)");
    const r = bindArguments(s, [f32([6]), 2, 3], none, host);
    expect(r.ok && makeArgs(r.bound, host).ints("size")).toEqual([2, 3]);
  });

  it("choose the first overload that binds", () => {
    const record = (name: string, schema: string): OpRecord => ({ name, schema, meta: (_b, a) => a.tensor("self") });
    const records = [
      record("aten.pow.Tensor_Tensor", "pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor"),
      record("aten.pow.Tensor_Scalar", "pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor"),
    ];
    const r = resolveOverload(records, [f32([2]), 2], none, host, "pow");
    expect(r.ok && r.record.name).toBe("aten.pow.Tensor_Scalar");
    const bad = resolveOverload(records, [f32([2]), "2"], none, host, "pow");
    expect(bad.ok ? "" : bad.message).toMatch(
      /^pow\(\) received an invalid combination of arguments - got \(Tensor, str\)/,
    );
    const missing = bindArguments(parseSchema("relu(Tensor self) -> Tensor"), [], none, host);
    expect(missing.ok ? "" : missing.message).toBe('relu() missing 1 required positional argument: "input"');
  });
});

test.each<[string, string, readonly unknown[], readonly unknown[]]>([
  [
    "addmm_",
    "addmm_(Tensor(a!) self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    [0, 1, -2, 0, 0],
    [1, -2],
  ],
  [
    "addmm",
    "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    [3, 0, 0, 0],
    [3],
  ],
  ["addcmul", "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", [0, 5, 0, 0], [5]],
])("factors may stand before the tensors of %s", (name, schema, args, factors) => {
  const record: OpRecord = { name: `aten.${name}.default`, schema, meta: (_b, a) => a.tensor("self") };
  const given = args.map(a => (a === 0 ? f32([2, 2]) : (a as number)));
  const r = resolveOverload([record], given, none, host, name);
  const numbers = r.ok ? ["beta", "alpha", "value"].flatMap(n => r.bound.values.get(n) ?? []) : [];
  expect(numbers).toEqual(factors);
  expect(resolveOverload([record], [f32([2]), 1, 2, 3, f32([2])], none, host, name).ok).toBe(false);
});

describe("type promotion", () => {
  it("lets dimensioned tensors decide before numbers", () => {
    expect(promoteTypes("float16", "bfloat16")).toBe("float32");
    expect(promoteTypes("uint8", "int8")).toBe("int16");
    const half = m.tensor([2], { dtype: "float16", device: cuda });
    expect(resultType([half, new PyFloat(2)])).toBe("float16");
    expect(resultType([m.tensor([2], { dtype: "int64", device: cuda }), new PyFloat(2)])).toBe("float32");
    expect(resultType([half, m.tensor([], { dtype: "float32", device: cuda })])).toBe("float16");
  });
});

describe("elementwise strides", () => {
  const math = makeDimMath(STATIC_GUARDS);
  const strides = (...ts: TensorMeta[]) => elementwiseMeta(math, "float32", ts).stride.map(s => math.static(s));
  it("follow the operands' order of dims", () => {
    expect(strides(f32([4, 5], [1, 4]), f32([4, 5], [1, 4]))).toEqual([1, 4]);
    expect(strides(f32([4, 5], [1, 4]), f32([4, 5]))).toEqual([1, 4]);
    expect(strides(f32([5]), f32([4, 5], [1, 4]))).toEqual([1, 4]);
    expect(strides(f32([4, 1]), f32([5]))).toEqual([5, 1]);
  });
  it("refuse shapes that don't broadcast, in PyTorch's words", () => {
    expect(() => strides(f32([2, 3]), f32([2, 4]))).toThrow(
      "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
    );
  });
  it("tell expressions from other objects", () => {
    expect(isExpr(m.int(3))).toBe(true);
    expect(isExpr(f32([1]))).toBe(false);
  });
});
