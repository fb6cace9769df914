// Strided tensors to and from contiguous ones, with conversion to and from f32, and plain strided copies by width.
import {
  add,
  type BuiltinModule,
  builtinModule,
  ELEMENTS,
  exported,
  get,
  HALF_HELPERS,
  i32,
  loop,
  mul,
  set,
} from "./text";

const DIMS = ["n1", "n2", "n3"];
const STRIDES = ["s0", "s1", "s2", "s3"];

/**
 * NAME(strided, dense, n1, n2, n3, s0, s1, s2, s3): rows [begin, end) of a tensor of sizes [n0, n1, n2, n3], whose
 * strides are in bytes; row r is its index over the first three dims.
 */
function rows(
  name: string,
  denseBytes: number,
  move: (strided: string, dense: string) => string,
): { readonly name: string; readonly text: string } {
  const outer = add(
    add(
      mul(`(i32.div_u ${get("row")} ${mul(get("n1"), get("n2"))})`, get("s0")),
      mul(`(i32.rem_u (i32.div_u ${get("row")} ${get("n2")}) ${get("n1")})`, get("s1")),
    ),
    mul(`(i32.rem_u ${get("row")} ${get("n2")})`, get("s2")),
  );
  return exported(
    name,
    ["strided", "dense", ...DIMS, ...STRIDES],
    "(local $row i32) (local $i i32) (local $p i32) (local $q i32)",
    loop(
      "row",
      get("begin"),
      get("end"),
      `${set("p", add(get("strided"), outer))}
  ${set("q", add(get("dense"), mul(mul(get("row"), get("n3")), i32(denseBytes))))}
  ${loop(
    "i",
    i32(0),
    get("n3"),
    `${move(get("p"), get("q"))}
    ${set("p", add(get("p"), get("s3")))}
    ${set("q", add(get("q"), i32(denseBytes)))}`,
  )}`,
    ),
  );
}

const RAW: Readonly<Record<number, readonly [string, string]>> = {
  1: ["i32.load8_u", "i32.store8"],
  2: ["i32.load16_u", "i32.store16"],
  4: ["i32.load", "i32.store"],
  8: ["i64.load", "i64.store"],
};

export const copyModule = (): BuiltinModule =>
  builtinModule(
    [
      ...ELEMENTS.map(e => rows(`gather_${e.dtype}`, 4, (s, d) => `(f32.store ${d} ${e.f32(s)})`)),
      ...ELEMENTS.map(e => rows(`scatter_${e.dtype}`, 4, (s, d) => e.store32(s, `(f32.load ${d})`))),
      ...Object.entries(RAW).map(([width, [load, store]]) =>
        rows(`collect_${width}`, Number(width), (s, d) => `(${store} ${d} (${load} ${s}))`),
      ),
      ...Object.entries(RAW).map(([width, [load, store]]) =>
        rows(`spread_${width}`, Number(width), (s, d) => `(${store} ${s} (${load} ${d}))`),
      ),
    ],
    HALF_HELPERS,
  );
