// Filling tensors and summing them up: the hash u(i, k) of fill.ts, in kernels over contiguous elements.
import {
  add,
  type BuiltinModule,
  builtinModule,
  ELEMENTS,
  type Element,
  exported,
  get,
  HALF_HELPERS,
  i32,
  loop,
  mul,
  set,
} from "./text";

/** elements that one partial sum covers */
export const SUM_CHUNK = 65536;
/** bytes of one partial sum: sum, sum of magnitudes, weighted sum */
export const PARTIAL_BYTES = 24;

/** u in [0, 1) of element $i and tensor number $k, as f64 */
const UNIFORM = `(func $uniform (param $i i32) (param $k i32) (result f64) (local $h i32)
  (local.set $h (i32.add (i32.mul (i32.add (local.get $i) (i32.const 1)) (i32.const 2654435761)) (i32.mul (local.get $k) (i32.const 40503))))
  (local.set $h (i32.xor (local.get $h) (i32.shr_u (local.get $h) (i32.const 16))))
  (local.set $h (i32.mul (local.get $h) (i32.const 2246822519)))
  (local.set $h (i32.xor (local.get $h) (i32.shr_u (local.get $h) (i32.const 13))))
  (f64.mul (f64.convert_i32_u (local.get $h)) (f64.const 0x1p-32)))`;

/**
 * fill_DTYPE(to, k, numbers): element i becomes offset + scale2 * (scale1 * (u(i, k) - shift)), the product rounded down
 * first if `floor` is not 0. The five f64 lie at `numbers` in the order shift, scale1, scale2, offset, floor.
 */
function fill(e: Element): { readonly name: string; readonly text: string } {
  const number = (name: string, at: number): string => set(name, `(f64.load offset=${at * 8} ${get("numbers")})`);
  const scaled = `(f64.mul ${get("scale1")} (f64.sub (call $uniform ${get("i")} ${get("k")}) ${get("shift")}))`;
  return exported(
    `fill_${e.dtype}`,
    ["to", "k", "numbers"],
    "(local $i i32) (local $x f64) (local $shift f64) (local $scale1 f64) (local $scale2 f64) (local $offset f64) (local $floor f64)",
    `${["shift", "scale1", "scale2", "offset", "floor"].map(number).join("\n")}
${loop(
  "i",
  get("begin"),
  get("end"),
  `${set("x", scaled)}
  (if (f64.ne ${get("floor")} (f64.const 0)) (then ${set("x", `(f64.floor ${get("x")})`)}))
  ${set("x", `(f64.add ${get("offset")} (f64.mul ${get("scale2")} ${get("x")}))`)}
  ${e.store64(add(get("to"), mul(get("i"), i32(e.bytes))), get("x"))}`,
)}`,
  );
}

/** sums_DTYPE(from, count, partials): for chunks [begin, end) of SUM_CHUNK elements: sum, sum |x|, sum x * u(i, 0) */
function sums(e: Element): { readonly name: string; readonly text: string } {
  return exported(
    `sums_${e.dtype}`,
    ["from", "count", "partials"],
    "(local $chunk i32) (local $i i32) (local $stop i32) (local $x f64) (local $sum f64) (local $abs f64) (local $weighted f64)",
    loop(
      "chunk",
      get("begin"),
      get("end"),
      `${set("sum", "(f64.const 0)")} ${set("abs", "(f64.const 0)")} ${set("weighted", "(f64.const 0)")}
  ${set("stop", mul(add(get("chunk"), i32(1)), i32(SUM_CHUNK)))}
  ${set("stop", `(select ${get("stop")} ${get("count")} (i32.lt_u ${get("stop")} ${get("count")}))`)}
  ${loop(
    "i",
    mul(get("chunk"), i32(SUM_CHUNK)),
    get("stop"),
    `${set("x", e.f64(add(get("from"), mul(get("i"), i32(e.bytes)))))}
    ${set("sum", `(f64.add ${get("sum")} ${get("x")})`)}
    ${set("abs", `(f64.add ${get("abs")} (f64.abs ${get("x")}))`)}
    ${set("weighted", `(f64.add ${get("weighted")} (f64.mul ${get("x")} (call $uniform ${get("i")} (i32.const 0))))`)}`,
  )}
  (f64.store ${add(get("partials"), mul(get("chunk"), i32(PARTIAL_BYTES)))} ${get("sum")})
  (f64.store offset=8 ${add(get("partials"), mul(get("chunk"), i32(PARTIAL_BYTES)))} ${get("abs")})
  (f64.store offset=16 ${add(get("partials"), mul(get("chunk"), i32(PARTIAL_BYTES)))} ${get("weighted")})`,
    ),
  );
}

export const hashModule = (): BuiltinModule =>
  builtinModule([...ELEMENTS.map(fill), ...ELEMENTS.map(sums)], `${HALF_HELPERS}\n${UNIFORM}`);
