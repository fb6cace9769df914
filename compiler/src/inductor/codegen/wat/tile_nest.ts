// Emits a pointwise nest over tiles of two dims, for accesses that lie along different ones: what is adjacent along the
// other dim is turned over into the thread's scratch before the tile is worked on, or out of it after. In: an analysed
// part. Out: loops in a function; a work item is a tile.
import { runBody } from "../../ir/run_body";
import { ceilDiv, type Expr, int, mul, type SymExpr } from "../../symbolic/expr";
import type { Access } from "./accesses";
import { WatBodyHandler } from "./body_handler";
import { indexCode } from "./index_code";
import type { LoopDim } from "./loop_space";
import { NestBase, type NestContext, type PlainScope } from "./nest_base";
import type { Member, Part } from "./part";
import type { KernelSizes } from "./sizes";
import { laneStride, VectorBodyHandler } from "./vector_handler";
import { isAligned, simplifierOf, turnedOver } from "./vector_plan";
import { LANES, NotVectorizable } from "./vector_types";
import { itemSize } from "./wat_types";

/** elements on each side of a tile, a multiple of LANES */
export const TILE = 64;
/** rows of tiles in a group */
const GROUP = 32;

interface Turned {
  readonly access: Access;
  /** of its tile in the scratch */
  readonly offset: Expr;
  readonly bytes: number;
  /** elements from one place of the last dim to the next, in memory */
  readonly stride: number;
}

function tileDims(
  part: Part,
  across: SymExpr,
): { readonly last: LoopDim; readonly over: LoopDim; readonly outer: LoopDim[] } {
  const last = part.space.x[part.space.x.length - 1];
  const over = part.space.x.find(d => d.variable === across);
  if (!last || !over) throw new Error("a tile needs two dims");
  return { last, over, outer: part.space.x.filter(d => d !== last && d !== over) };
}

/** work items: tiles */
export function tileItems(part: Part, across: SymExpr, sizes: KernelSizes): Expr {
  const { last, over, outer } = tileDims(part, across);
  const tiles = mul(ceilDiv(last.size, TILE), ceilDiv(over.size, TILE));
  return sizes.resolve(outer.reduce<Expr>((n, d) => mul(n, d.size), tiles));
}

export class TileNest extends NestBase {
  private readonly turned: readonly Turned[];
  private readonly members: readonly Member[];
  private readonly dims: ReturnType<typeof tileDims>;
  private readonly row: string;
  private readonly column: string;

  constructor(ctx: NestContext, part: Part, across: SymExpr) {
    super(ctx, part);
    this.dims = tileDims(part, across);
    this.members = part.segments.flatMap(s => s.members);
    const scope = simplifierOf(part, ctx.sizes);
    this.turned = turnedOver(part, this.members, across, this.dims.last.variable, ctx.sizes).flatMap(
      (access): Turned[] => {
        if (ctx.memory.isLocal(access.buffer)) return [];
        const bytes = itemSize(ctx.memory.dtype(access.buffer));
        const stride = laneStride(access.index, this.dims.last.variable, false, scope) ?? 0;
        return [{ access, bytes, stride, offset: ctx.memory.reserve(int(TILE * TILE * bytes)) }];
      },
    );
    this.row = this.f.local("i32", "tile_row");
    this.column = this.f.local("i32", "tile_column");
  }

  emit(begin: string, end: string): void {
    const { f } = this;
    const { last, over, outer } = this.dims;
    const [u, v] = [this.local(over.variable), this.local(last.variable)];
    const size = (d: LoopDim): string => f.keep(this.ctx.memory.sizeCode(d.size), "i32", "size");
    const [rows, columns] = [size(over), size(last)];
    const tiles = (n: string): string =>
      f.keep(`(i32.div_u (i32.add ${n} (i32.const ${TILE - 1})) (i32.const ${TILE}))`, "i32", "tiles");
    const [down, right] = [tiles(rows), tiles(columns)];
    const item = f.local("i32", "item");
    const [u0, v0, nu, nv] = ["u0", "v0", "rows", "columns"].map(n => f.local("i32", n)) as [
      string,
      string,
      string,
      string,
    ];
    f.loop(item, begin, end, () => {
      // groups of rows of tiles, each group column by column: what a tile touches of a page is met again soon
      const plane = f.keep(`(i32.mul ${down} ${right})`, "i32", "plane");
      this.setFromFlat(f.keep(`(i32.div_u (local.get ${item}) ${plane})`, "i32", "outer"), outer);
      const within0 = f.keep(`(i32.rem_u (local.get ${item}) ${plane})`, "i32", "tile");
      const group = f.keep(`(i32.mul (i32.const ${GROUP}) ${right})`, "i32", "group");
      const first = f.keep(`(i32.mul (i32.div_u ${within0} ${group}) (i32.const ${GROUP}))`, "i32", "first");
      const below = f.keep(`(i32.sub ${down} ${first})`, "i32", "below");
      const height = f.keep(
        `(select ${below} (i32.const ${GROUP}) (i32.lt_u ${below} (i32.const ${GROUP})))`,
        "i32",
        "height",
      );
      const place = f.keep(`(i32.rem_u ${within0} ${group})`, "i32", "place");
      f.set(u0, `(i32.mul (i32.add ${first} (i32.rem_u ${place} ${height})) (i32.const ${TILE}))`);
      f.set(v0, `(i32.mul (i32.div_u ${place} ${height}) (i32.const ${TILE}))`);
      const within = (from: string, n: string): string => {
        const left = f.keep(`(i32.sub ${n} (local.get ${from}))`, "i32", "left");
        return `(select ${left} (i32.const ${TILE}) (i32.lt_u ${left} (i32.const ${TILE})))`;
      };
      f.set(nu, within(u0, rows));
      f.set(nv, within(v0, columns));
      // addresses of the tile's first element
      f.set(u, `(local.get ${u0})`);
      f.set(v, `(local.get ${v0})`);
      const corners = this.turned.map(t => f.keep(this.memoryAddress(t), "i32", "corner"));
      this.turned.forEach((t, i) => {
        if (t.access.kind !== "load") return;
        f.lines.add(
          `(call ${this.turn(t)} ${corners[i]} (i32.const ${t.stride * t.bytes}) ${this.tileAt(t)} (i32.const ${TILE * t.bytes}) (local.get ${nv}) (local.get ${nu}))`,
        );
      });
      f.loop(this.row, "(i32.const 0)", `(local.get ${nu})`, () => {
        f.set(u, `(i32.add (local.get ${u0}) (local.get ${this.row}))`);
        const turn = (four: boolean) => (): void => {
          f.set(v, `(i32.add (local.get ${v0}) (local.get ${this.column}))`);
          this.element(four);
        };
        const whole = f.keep(`(i32.and (local.get ${nv}) (i32.const -${LANES}))`, "i32", "whole");
        let from = "(i32.const 0)";
        if (this.attempt(() => f.loop(this.column, "(i32.const 0)", whole, turn(true), LANES))) from = whole;
        f.loop(this.column, from, `(local.get ${nv})`, turn(false));
      });
      this.turned.forEach((t, i) => {
        if (t.access.kind === "load") return;
        f.lines.add(
          `(call ${this.turn(t)} ${this.tileAt(t)} (i32.const ${TILE * t.bytes}) ${corners[i]} (i32.const ${t.stride * t.bytes}) (local.get ${nu}) (local.get ${nv}))`,
        );
      });
    });
  }

  private turn(t: Turned): string {
    switch (t.bytes) {
      case 1:
        return this.f.use("turn_1");
      case 2:
        return this.f.use("turn_2");
      case 4:
        return this.f.use("turn_4");
      case 8:
        return this.f.use("turn_8");
      default:
        throw new NotVectorizable(`elements of ${t.bytes} bytes`);
    }
  }

  private tileAt(t: Turned): string {
    return this.f.keep(this.ctx.memory.scratchAt(t.offset), "i32", "tile");
  }

  private memoryAddress(t: Turned): string {
    const code = indexCode(t.access.index, {
      symbol: s => this.symbol(s),
      ranges: this.part.ranges,
      use: h => this.f.use(h),
    });
    return `(i32.add ${this.ctx.memory.address(t.access.buffer)} (i32.mul ${code} (i32.const ${t.bytes})))`;
  }

  /** the current element of a turned access, loads and stores apart */
  private tileElement(store: boolean, buffer: string, index: Expr): string | null {
    const t = this.turned.find(
      x => (x.access.kind !== "load") === store && x.access.buffer === buffer && x.access.index === index,
    );
    if (!t) return null;
    const at = `(i32.add (i32.mul (local.get ${this.row}) (i32.const ${TILE})) (local.get ${this.column}))`;
    return `(i32.add ${this.tileAt(t)} (i32.mul ${this.f.keep(at, "i32", "at")} (i32.const ${t.bytes})))`;
  }

  /** one element, or four along the last dim */
  private element(four: boolean): void {
    const { last } = this.dims;
    this.written.clear();
    const scope: PlainScope = {
      ...this.scope(this.segmentNumber, null),
      tile: (store, buffer, index) => this.tileElement(store, buffer, index),
    };
    for (const m of this.members) {
      this.announce(m);
      if (!four) {
        runBody(m.body, new WatBodyHandler({ ...scope, sort: null, partial: null }), m.iter, m.reduce);
        continue;
      }
      const vector = {
        ...scope,
        variable: last.variable,
        aligned: isAligned(last),
        accumulate: () => {
          throw new NotVectorizable("a reduction in a tile");
        },
      };
      runBody(m.body, new VectorBodyHandler({ ...vector, sort: null, partial: null }), m.iter, m.reduce);
    }
    for (const store of scope.stores) store();
  }
}
