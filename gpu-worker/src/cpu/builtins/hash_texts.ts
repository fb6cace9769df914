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

/** GPU threads whose sums are kept at a time */
export const SUM_THREADS = 1024;
/** bytes of one partial result: sum, sum of magnitudes */
export const PARTIAL_BYTES = 16;
/** a GPU thread's four sums */
const THREAD_BYTES = 32;
/** scratch of a CPU thread */
export const SUM_SCRATCH = SUM_THREADS * THREAD_BYTES;

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

/**
 * sums_DTYPE(from, count, threads, partials, total, width): for chunks [begin, end) of SUM_THREADS of the `total` GPU
 * threads that a sum of `count` elements is spread over (cuda_sum.ts): each thread's sum of x * u(i, 0) into `threads`,
 * and the chunk's sum and sum of |x| into `partials`. `width`: threads of a GPU block.
 */
function sums(e: Element): { readonly name: string; readonly text: string } {
  const element = (i: string): string => e.f64(add(get("from"), mul(i, i32(e.bytes))));
  const slot = add(get("scratch"), mul(`(i32.sub ${get("q")} ${get("q0")})`, i32(THREAD_BYTES)));
  const take = (index: string, offset: number): string => `${set("x", element(index))}
      ${set("sum", `(f64.add ${get("sum")} ${get("x")})`)}
      ${set("abs", `(f64.add ${get("abs")} (f64.abs ${get("x")}))`)}
      (f64.store offset=${offset} ${get("p")} (f64.add (f64.load offset=${offset} ${get("p")}) (f64.mul ${get("x")} (call $uniform ${index} (i32.const 0)))))`;
  const whole = `(i32.and ${get("count")} (i32.const -4))`;
  return exported(
    `sums_${e.dtype}`,
    ["from", "count", "threads", "partials", "total", "width", "scratch"],
    "(local $chunk i32) (local $q i32) (local $q0 i32) (local $q1 i32) (local $base i32) (local $i i32) (local $p i32) (local $x f64) (local $sum f64) (local $abs f64)",
    loop(
      "chunk",
      get("begin"),
      get("end"),
      `${set("sum", "(f64.const 0)")} ${set("abs", "(f64.const 0)")}
  ${set("q0", mul(get("chunk"), i32(SUM_THREADS)))}
  ${set("q1", add(get("q0"), i32(SUM_THREADS)))}
  ${set("q1", `(select ${get("q1")} ${get("total")} (i32.lt_u ${get("q1")} ${get("total")}))`)}
  (memory.fill ${get("scratch")} (i32.const 0) (i32.const ${SUM_SCRATCH}))
  ${loop(
    "base",
    i32(0),
    whole,
    loop(
      "q",
      get("q0"),
      get("q1"),
      `${set("i", add(get("base"), `(i32.shl ${get("q")} (i32.const 2))`))}
    (if (i32.lt_u ${get("i")} ${whole}) (then
      ${set("p", slot)}
      ${[0, 1, 2, 3].map(n => take(add(get("i"), i32(n)), 8 * n)).join("\n      ")}))`,
    ),
    `(i32.shl ${get("total")} (i32.const 2))`,
  )}
  ${loop(
    "q",
    get("q0"),
    get("q1"),
    `${set("p", slot)}
    ${set("i", add(whole, get("q")))}
    (if (i32.and (i32.lt_u ${get("q")} ${get("width")}) (i32.lt_u ${get("i")} ${get("count")})) (then ${take(get("i"), 0)}))
    (f64.store ${add(get("threads"), mul(get("q"), i32(8)))}
      (f64.add (f64.add (f64.add (f64.load ${get("p")}) (f64.load offset=8 ${get("p")})) (f64.load offset=16 ${get("p")})) (f64.load offset=24 ${get("p")})))`,
  )}
  (f64.store ${add(get("partials"), mul(get("chunk"), i32(PARTIAL_BYTES)))} ${get("sum")})
  (f64.store offset=8 ${add(get("partials"), mul(get("chunk"), i32(PARTIAL_BYTES)))} ${get("abs")})`,
    ),
  );
}

export const hashModule = (): BuiltinModule =>
  builtinModule([...ELEMENTS.map(fill), ...ELEMENTS.map(sums)], `${HALF_HELPERS}\n${UNIFORM}`);
