// Matrix product in f32, blocked after Goto and van de Geijn (Anatomy of High-Performance Matrix Multiplication): panels
// of B packed once for all threads, blocks of A packed by each, a register tile accumulated over KC products. V8 loads
// all that a turn of the inner loop reads before its first product: the tile, a column of A and a row of B must fit in the
// fifteen registers that it gives out, and a turn is one step of k.
import { add, type BuiltinModule, builtinModule, exported, get, i32, loop, mul, set } from "./text";

/** rows and columns of the register tile */
const MR = 4;
export const NR = 8;
/** vectors of a tile's row */
const VECTORS = Array.from({ length: NR / 4 }, (_, j) => j);
/** rows of a task's block, a multiple of MR */
export const MC = 48;
const KC = 256;
/** columns of a task's block, a multiple of NR */
export const NC = 256;
/** per thread: the packed block of A and one tile */
export const GEMM_SCRATCH = MC * KC * 4 + MR * NR * 4;

const min = (a: string, b: string): string => `(select ${a} ${b} (i32.lt_u ${a} ${b}))`;

/**
 * pack_b(from, to, k, n, rowBytes, columnBytes): panels [begin, end) of NR columns, each k rows of NR floats; columns
 * beyond n are zero.
 */
function packB(): { readonly name: string; readonly text: string } {
  const columns = Array.from({ length: NR }, (_, j) => j);
  return exported(
    "pack_b",
    ["from", "to", "k", "n", "rowBytes", "columnBytes"],
    "(local $panel i32) (local $kk i32) (local $p i32) (local $q i32) (local $left i32)",
    loop(
      "panel",
      get("begin"),
      get("end"),
      `${set("q", add(get("to"), mul(mul(get("panel"), get("k")), i32(NR * 4))))}
  ${set("p", add(get("from"), mul(mul(get("panel"), i32(NR)), get("columnBytes"))))}
  ${set("left", `(i32.sub ${get("n")} ${mul(get("panel"), i32(NR))})`)}
  ${loop(
    "kk",
    i32(0),
    get("k"),
    `(if (i32.and (i32.eq ${get("columnBytes")} (i32.const 4)) (i32.ge_u ${get("left")} (i32.const ${NR})))
      (then ${VECTORS.map(j => `(v128.store offset=${16 * j} ${get("q")} (v128.load offset=${16 * j} ${get("p")}))`).join(" ")})
      (else ${columns
        .map(
          j =>
            `(f32.store offset=${4 * j} ${get("q")} (if (result f32) (i32.gt_u ${get("left")} (i32.const ${j})) (then (f32.load ${add(get("p"), mul(get("columnBytes"), i32(j)))})) (else (f32.const 0))))`,
        )
        .join("\n        ")}))
    ${set("p", add(get("p"), get("rowBytes")))}
    ${set("q", add(get("q"), i32(NR * 4)))}`,
  )}`,
    ),
  );
}

const accumulator = (r: number, j: number): string => `acc${r}_${j}`;

function microKernel(relaxed: boolean): string {
  const madd = (a: string, b: string, c: string): string =>
    relaxed ? `(f32x4.relaxed_madd ${a} ${b} ${c})` : `(f32x4.add (f32x4.mul ${a} ${b}) ${c})`;
  const step = [
    ...VECTORS.map(j => set(`b${j}`, `(v128.load offset=${16 * j} ${get("pb")})`)),
    ...Array.from({ length: MR }, (_, r) => [
      set("av", `(v128.load32_splat offset=${4 * r} ${get("pa")})`),
      ...VECTORS.map(j => set(accumulator(r, j), madd(get("av"), get(`b${j}`), get(accumulator(r, j))))),
    ]).flat(),
  ].join("\n      ");
  const zero = (r: number): string => VECTORS.map(j => set(accumulator(r, j), "(v128.const i32x4 0 0 0 0)")).join(" ");
  return `${Array.from({ length: MR }, (_, r) => zero(r)).join("\n    ")}
    ${set("aEnd", add(get("pa"), mul(get("kb"), i32(MR * 4))))}
    (loop $k
      ${step}
      ${set("pa", add(get("pa"), i32(MR * 4)))}
      ${set("pb", add(get("pb"), i32(NR * 4)))}
      (br_if $k (i32.ne ${get("pa")} ${get("aEnd")})))`;
}

/** the register tile into C: whole, or by way of the scratch tile where it sticks out */
function storeTile(): string {
  const whole = Array.from({ length: MR }, (_, r) => {
    const parts = VECTORS.map(j => {
      const at = `(v128.load offset=${16 * j} ${get("q")})`;
      const value = get(accumulator(r, j));
      return `(v128.store offset=${16 * j} ${get("q")} (if (result v128) ${get("keep")} (then (f32x4.add ${at} ${value})) (else ${value})))`;
    });
    return [...parts, set("q", add(get("q"), get("cRow")))].join("\n      ");
  }).join("\n      ");
  const spill = Array.from({ length: MR }, (_, r) =>
    VECTORS.map(
      j => `(v128.store offset=${MC * KC * 4 + r * NR * 4 + 16 * j} ${get("scratch")} ${get(accumulator(r, j))})`,
    ).join(" "),
  ).join("\n      ");
  const part = loop(
    "r",
    i32(0),
    get("rows"),
    loop(
      "j",
      i32(0),
      get("cols"),
      `${set("p", add(add(get("q"), mul(get("r"), get("cRow"))), `(i32.shl ${get("j")} (i32.const 2))`))}
        ${set("x", `(f32.load offset=${MC * KC * 4} ${add(get("scratch"), `(i32.shl ${add(mul(get("r"), i32(NR)), get("j"))} (i32.const 2))`)})`)}
        (f32.store ${get("p")} (if (result f32) ${get("keep")} (then (f32.add (f32.load ${get("p")}) ${get("x")})) (else ${get("x")})))`,
    ),
  );
  return `(if (i32.and (i32.eq ${get("rows")} (i32.const ${MR})) (i32.eq ${get("cols")} (i32.const ${NR})))
      (then ${whole})
      (else ${spill}
      ${part}))`;
}

/**
 * gemm(a, packedB, c, m, k, n, aRow, aColumn, cRow, add, scratch): tasks [begin, end), each a block of MC rows and NC
 * columns of C; strides in bytes, C's columns are adjacent. `add`: C is added to, else overwritten.
 */
function gemm(relaxed: boolean): { readonly name: string; readonly text: string } {
  const locals = [
    ...[
      "task",
      "blocks",
      "i0",
      "mb",
      "j0",
      "j1",
      "k0",
      "kb",
      "kk",
      "i",
      "r",
      "j",
      "p",
      "q",
      "pa",
      "pb",
      "aEnd",
      "rows",
      "cols",
      "keep",
      "col",
      "panels",
    ].map(n => `(local $${n} i32)`),
    "(local $x f32) (local $av v128)",
    ...VECTORS.map(j => `(local $b${j} v128)`),
    ...Array.from({ length: MR }, (_, r) => VECTORS.map(j => `(local $${accumulator(r, j)} v128)`)).flat(),
  ].join(" ");
  const packA = loop(
    "i",
    i32(0),
    get("panels"),
    `${set("q", add(get("scratch"), mul(mul(get("i"), get("kb")), i32(MR * 4))))}
      ${loop(
        "r",
        i32(0),
        i32(MR),
        `${set("pa", add(get("q"), `(i32.shl ${get("r")} (i32.const 2))`))}
        ${set("rows", add(mul(get("i"), i32(MR)), get("r")))}
        (if (i32.lt_u ${get("rows")} ${get("mb")})
          (then
            ${set("p", add(add(get("a"), mul(add(get("i0"), get("rows")), get("aRow"))), mul(get("k0"), get("aColumn"))))}
            ${loop("kk", i32(0), get("kb"), `(f32.store ${get("pa")} (f32.load ${get("p")})) ${set("p", add(get("p"), get("aColumn")))} ${set("pa", add(get("pa"), i32(MR * 4)))}`)})
          (else
            ${loop("kk", i32(0), get("kb"), `(f32.store ${get("pa")} (f32.const 0)) ${set("pa", add(get("pa"), i32(MR * 4)))}`)}))`,
      )}`,
  );
  const tiles = loop(
    "col",
    get("j0"),
    get("j1"),
    loop(
      "i",
      i32(0),
      get("panels"),
      `${set("pa", add(get("scratch"), mul(mul(get("i"), get("kb")), i32(MR * 4))))}
    ${set("pb", add(get("packedB"), mul(add(mul(`(i32.div_u ${get("col")} ${i32(NR)})`, get("k")), get("k0")), i32(NR * 4))))}
    ${microKernel(relaxed)}
    ${set("rows", min(i32(MR), `(i32.sub ${get("mb")} ${mul(get("i"), i32(MR))})`))}
    ${set("cols", min(i32(NR), `(i32.sub ${get("n")} ${get("col")})`))}
    ${set("q", add(add(get("c"), mul(add(get("i0"), mul(get("i"), i32(MR))), get("cRow"))), `(i32.shl ${get("col")} (i32.const 2))`))}
    ${storeTile()}`,
    ),
    i32(NR),
  );
  return exported(
    "gemm",
    ["a", "packedB", "c", "m", "k", "n", "aRow", "aColumn", "cRow", "add", "scratch"],
    locals,
    `${set("blocks", `(i32.div_u ${add(get("n"), i32(NC - 1))} ${i32(NC)})`)}
${loop(
  "task",
  get("begin"),
  get("end"),
  `${set("i0", mul(`(i32.div_u ${get("task")} ${get("blocks")})`, i32(MC)))}
  ${set("mb", min(i32(MC), `(i32.sub ${get("m")} ${get("i0")})`))}
  ${set("panels", `(i32.div_u ${add(get("mb"), i32(MR - 1))} ${i32(MR)})`)}
  ${set("j0", mul(`(i32.rem_u ${get("task")} ${get("blocks")})`, i32(NC)))}
  ${set("j1", min(add(get("j0"), i32(NC)), get("n")))}
  ${set("keep", get("add"))}
  ${loop(
    "k0",
    i32(0),
    get("k"),
    `${set("kb", min(i32(KC), `(i32.sub ${get("k")} ${get("k0")})`))}
    ${packA}
    ${tiles}
    ${set("keep", i32(1))}`,
    i32(KC),
  )}`,
)}`,
  );
}

export const gemmModule = (relaxed: boolean): BuiltinModule => builtinModule([packB(), gemm(relaxed)]);
