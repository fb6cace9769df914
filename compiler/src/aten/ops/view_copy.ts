// What views make, as copies of their own: torch.view_copy and its kind.
import { type Args, type ArgValue, type GraphBuilder, MemoryFormatArg, type OpRecord, type Result } from "../types";
import { composed } from "./helpers/shape";

const CONTIGUOUS = new MemoryFormatArg("contiguous_format");

/** operator, its parameters after `self`, and the view behind it */
const COPIES: readonly (readonly [name: string, parameters: string, view: string])[] = [
  ["alias_copy", "", "aten.alias.default"],
  ["diagonal_copy", "int offset=0, int dim1=0, int dim2=1", "aten.diagonal.default"],
  ["expand_copy", "SymInt[] size, *, bool implicit=False", "aten.expand.default"],
  ["narrow_copy", "int dim, SymInt start, SymInt length", "aten.narrow.default"],
  ["permute_copy", "int[] dims", "aten.permute.default"],
  ["select_copy", "int dim, SymInt index", "aten.select.int"],
  ["slice_copy", "int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1", "aten.slice.Tensor"],
  ["squeeze_copy", "", "aten.squeeze.default"],
  ["squeeze_copy.dim", "int dim", "aten.squeeze.dim"],
  ["t_copy", "", "aten.t.default"],
  ["transpose_copy", "int dim0, int dim1", "aten.transpose.int"],
  ["unfold_copy", "int dimension, int size, int step", "aten.unfold.default"],
  ["unsqueeze_copy", "int dim", "aten.unsqueeze.default"],
  ["view_copy", "SymInt[] size", "aten.view.default"],
];

const LISTS: typeof COPIES = [
  ["split_with_sizes_copy", "SymInt[] split_sizes, int dim=0", "aten.split_with_sizes.default"],
  ["unbind_copy", "int dim=0", "aten.unbind.int"],
];

function given<T>(a: Args<T>, parameters: string): ArgValue<T>[] {
  const names = parameters
    .split(", ")
    .filter(p => p !== "" && p !== "*" && !p.startsWith("bool"))
    .map(p => p.split(" ")[1]?.split("=")[0] ?? "");
  return names.map(n => a.raw(n));
}

function copyOp(name: string, parameters: string, body: <T>(b: GraphBuilder<T>, a: Args<T>) => Result<T>): OpRecord {
  const list = parameters === "" ? "Tensor self" : `Tensor self, ${parameters}`;
  return composed({
    name: `torch.${name.includes(".") ? name : `${name}.default`}`,
    schema: `${name}(${list}) -> ${LISTS.some(l => l[0] === name) ? "Tensor[]" : "Tensor"}`,
    python: [`torch.${name.split(".")[0]}`],
    composite: body,
  });
}

export const records: readonly OpRecord[] = [
  ...COPIES.map(([name, parameters, view]) =>
    copyOp(name, parameters, (b, a) => {
      const x = b.call(view, [a.tensor("self"), ...given(a, parameters)]);
      const plain = name === "view_copy";
      return b.call("aten.clone.default", [x], plain ? {} : { memory_format: CONTIGUOUS });
    }),
  ),
  ...LISTS.map(([name, parameters, view]) =>
    copyOp(name, parameters, (b, a) => {
      const parts = b.callMany(view, [a.tensor("self"), ...given(a, parameters)]);
      return parts.map(p => (p === null ? null : b.call("aten.clone.default", [p], { memory_format: CONTIGUOUS })));
    }),
  ),
];
