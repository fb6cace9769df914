// Blocks of a matrix turned over: to[c][r] = from[r][c], elements by width, rows any number of bytes apart.
import { get, type Helper } from "./dsl";

const LOADS: Readonly<Record<number, readonly [string, string]>> = {
  1: ["i32.load8_u", "i32.store8"],
  2: ["i32.load16_u", "i32.store16"],
  4: ["i32.load", "i32.store"],
  8: ["i64.load", "i64.store"],
};

const set = (name: string, x: string): string => `(local.set $${name} ${x})`;
const add = (a: string, b: string): string => `(i32.add ${a} ${b})`;
const mul = (a: string, b: string): string => `(i32.mul ${a} ${b})`;

/** copies element by element what blocks leave over: columns [c0, columns) of rows [r0, rows) */
const elements = (width: number): string => {
  const [load, store] = LOADS[width] as readonly [string, string];
  const size = `(i32.const ${width})`;
  return `(func $turn_elements_${width} (param $from i32) (param $fromRow i32) (param $to i32) (param $toRow i32) (param $r0 i32) (param $rows i32) (param $c0 i32) (param $columns i32) (local $c i32)
    (block $done (loop $row
      (br_if $done (i32.ge_u ${get("r0")} ${get("rows")}))
      ${set("c", get("c0"))}
      (block $end (loop $column
        (br_if $end (i32.ge_u ${get("c")} ${get("columns")}))
        (${store} ${add(add(get("to"), mul(get("c"), get("toRow"))), mul(get("r0"), size))}
          (${load} ${add(add(get("from"), mul(get("r0"), get("fromRow"))), mul(get("c"), size))}))
        ${set("c", add(get("c"), "(i32.const 1)"))}
        (br $column)))
      ${set("r0", add(get("r0"), "(i32.const 1)"))}
      (br $row))))`;
};

const PARAMETERS =
  "(param $from i32) (param $fromRow i32) (param $to i32) (param $toRow i32) (param $rows i32) (param $columns i32)";

function plain(width: number): Helper {
  return {
    uses: [`turn_elements_${width}`],
    text: `(func $turn_${width} ${PARAMETERS}
    (call $turn_elements_${width} ${["from", "fromRow", "to", "toRow"].map(get).join(" ")} (i32.const 0) ${get("rows")} (i32.const 0) ${get("columns")}))`,
  };
}

/** a shuffle that takes elements of `bytes` alternately from the lower (or upper) halves of two vectors */
function interleave(bytes: number, upper: boolean, a: string, b: string): string {
  const half = 8 / bytes;
  const bytesOf = (vector: number, element: number): number[] =>
    Array.from({ length: bytes }, (_, i) => 16 * vector + element * bytes + i);
  const order = Array.from({ length: half }, (_, e) => [0, 1].flatMap(v => bytesOf(v, e + (upper ? half : 0)))).flat();
  return `(i8x16.shuffle ${order.join(" ")} ${a} ${b})`;
}

/** blocks of n x n elements, n to a vector, by interleaving log2(n) times */
function blocks(width: 2 | 4): Helper {
  const n = 16 / width;
  const name = (stage: number, i: number): string => `s${stage}_${i}`;
  const stages = Math.log2(n);
  const body: string[] = [];
  for (let i = 0; i < n; i++)
    body.push(set(name(0, i), `(v128.load ${add(get("p"), mul(get("fromRow"), `(i32.const ${i})`))})`));
  for (let s = 0; s < stages; s++) {
    for (let i = 0; i < n / 2; i++) {
      const [a, b] = [get(name(s, i)), get(name(s, i + n / 2))];
      body.push(
        set(name(s + 1, 2 * i), interleave(width, false, a, b)),
        set(name(s + 1, 2 * i + 1), interleave(width, true, a, b)),
      );
    }
  }
  for (let i = 0; i < n; i++)
    body.push(`(v128.store ${add(get("q"), mul(get("toRow"), `(i32.const ${i})`))} ${get(name(stages, i))})`);
  const locals = Array.from({ length: stages + 1 }, (_, s) =>
    Array.from({ length: n }, (_x, i) => `(local $${name(s, i)} v128)`),
  ).flat();
  const whole = (x: string): string => `(i32.and ${get(x)} (i32.const -${n}))`;
  const call = (r0: string, rows: string, c0: string, columns: string): string =>
    `(call $turn_elements_${width} ${["from", "fromRow", "to", "toRow"].map(get).join(" ")} ${r0} ${rows} ${c0} ${columns})`;
  return {
    uses: [`turn_elements_${width}`],
    text: `(func $turn_${width} ${PARAMETERS} (local $r i32) (local $c i32) (local $p i32) (local $q i32) ${locals.join(" ")}
    (if (i32.and (i32.ge_u ${get("rows")} (i32.const ${n})) (i32.ge_u ${get("columns")} (i32.const ${n}))) (then (loop $row
      ${set("c", "(i32.const 0)")}
      (loop $column
        ${set("p", add(add(get("from"), mul(get("r"), get("fromRow"))), mul(get("c"), `(i32.const ${width})`)))}
        ${set("q", add(add(get("to"), mul(get("c"), get("toRow"))), mul(get("r"), `(i32.const ${width})`)))}
        ${body.join("\n        ")}
        ${set("c", add(get("c"), `(i32.const ${n})`))}
        (br_if $column (i32.lt_u ${get("c")} ${whole("columns")})))
      ${set("r", add(get("r"), `(i32.const ${n})`))}
      (br_if $row (i32.lt_u ${get("r")} ${whole("rows")})))))
    ${call("(i32.const 0)", whole("rows"), whole("columns"), get("columns"))}
    ${call(whole("rows"), get("rows"), "(i32.const 0)", get("columns"))})`,
  };
}

export const TRANSPOSE = {
  turn_elements_1: { text: elements(1) },
  turn_elements_2: { text: elements(2) },
  turn_elements_4: { text: elements(4) },
  turn_elements_8: { text: elements(8) },
  turn_1: plain(1),
  turn_2: blocks(2),
  turn_4: blocks(4),
  turn_8: plain(8),
} as const satisfies Record<string, Helper>;
