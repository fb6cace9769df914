// Casts to int64 that int32 is enough for, as what they give becomes an index (indexing_dtype_strength_reduction in
// torch/_inductor/optimize_indexing.py). In: a body. Out: its casts to narrow. Promises: every value and every index that
// hangs on a narrowed cast, up to the next cast that fixes a type, lies within 32 bits; nothing that was loaded is narrowed.
import type { DType } from "../../../aten/types";
import { operandsOf } from "../../ir/body_operands";
import type { Block, BodyNode, LoopBody } from "../../ir/loop_body";
import { type Expr, freeSymbols, type SymExpr } from "../../symbolic/expr";
import type { Bounds, VarRanges } from "../../symbolic/ranges";
import type { SizeVars } from "../../symbolic/size_vars";
import { rangeOfConstant, UNKNOWN, type ValueRange } from "./cse";
import { castRange, rangeOfCall } from "./value_ranges";

type Users = ReadonlyMap<BodyNode, readonly BodyNode[]>;

/** a cast to one of these fixes the type of what follows */
const FIXED: ReadonlySet<DType> = new Set<DType>(["int32", "float32", "float64"]);
const INT32 = 2 ** 31;
const MANTISSA = 2 ** 24;

const isLongCast = (n: BodyNode): boolean => n.op === "to_dtype" && n.dtype === "int64";

/** casts of `body` to int64 that may be to int32 */
export function narrowCasts(body: LoopBody, sizevars: SizeVars): ReadonlySet<BodyNode> {
  const narrow = new Set<BodyNode>();
  const blocks = [body.block, ...body.subblocks.values()];
  if (!blocks.some(b => b.nodes.some(isLongCast))) return narrow;
  const users = usersOf(blocks);
  const analysis = new Analysis(body, sizevars, users);
  analysis.run(body.block);
  for (const block of blocks) for (const n of block.nodes) if (isLongCast(n) && analysis.fits(n, users)) narrow.add(n);
  return narrow;
}

/** Values bounded one by one; what hangs on memory or on a reduction is unbounded. */
class Analysis {
  private readonly ranges = new Map<BodyNode, ValueRange>();
  private readonly indirect = new Map<SymExpr, Bounds>();
  private readonly loops: VarRanges;
  private readonly unbounded: ReadonlySet<BodyNode>;

  constructor(
    private readonly body: LoopBody,
    private readonly sizevars: SizeVars,
    users: Users,
  ) {
    this.loops = new Map([
      ...body.iterVars.map((v, i) => [v, body.iterSizes[i] as Expr] as const),
      ...body.reduceVars.map((v, i) => [v, body.reduceSizes[i] as Expr] as const),
    ]);
    const roots = [...users.keys()].filter(n => ["load", "reduction", "getitem", "masked"].includes(n.op));
    this.unbounded = dominated(roots, users, () => false);
  }

  run(block: Block): ValueRange {
    for (const n of block.nodes) {
      if (this.unbounded.has(n) && n.op !== "masked" && n.op !== "set_indirect") continue;
      this.ranges.set(n, this.bound(n));
    }
    return block.result === null ? UNKNOWN : this.of(block.result);
  }

  /** whether all that hangs on this cast lies within 32 bits */
  fits(cast: BodyNode, users: Users): boolean {
    if (this.unbounded.has(cast)) return false;
    const fixes = (n: BodyNode): boolean => n.op === "to_dtype" && FIXED.has(n.dtype);
    for (const n of dominated([cast], users, fixes)) {
      if (n.op === "store") continue;
      if (n.op === "set_indirect" && !this.indicesOf(n.symbol).every(b => within(b))) return false;
      if (!within(this.of(n))) return false;
    }
    return true;
  }

  private of(n: BodyNode): ValueRange {
    return this.ranges.get(n) ?? UNKNOWN;
  }

  private index(at: BodyNode): Bounds {
    const e = at.op === "get_index" ? this.body.indexing.get(at.index) : undefined;
    return e === undefined ? UNKNOWN : this.sizevars.bounds(e, this.loops, s => this.indirect.get(s));
  }

  private indicesOf(symbol: SymExpr): Bounds[] {
    return [...this.body.indexing.values()]
      .filter(e => freeSymbols(e).has(symbol))
      .map(e => this.sizevars.bounds(e, this.loops, s => this.indirect.get(s)));
  }

  private bound(n: BodyNode): ValueRange {
    switch (n.op) {
      case "constant":
        return rangeOfConstant(n.value);
      case "get_index":
        return this.index(n);
      case "index_expr":
        return castRange(this.index(n.at), n.dtype);
      case "to_dtype":
        return castRange(this.of(n.x), n.dtype);
      case "set_indirect": {
        const { lower, upper } = this.of(n.x);
        this.indirect.set(n.symbol, { lower, upper });
        return { lower, upper };
      }
      case "masked": {
        const block = this.body.subblocks.get(n.subblock);
        return block === undefined ? UNKNOWN : this.run(block);
      }
      case "call":
        return rangeOfCall(
          n.fn,
          n.args.map(a => this.of(a)),
        );
      default:
        return UNKNOWN;
    }
  }
}

/** whole numbers within int32, others within what float32 holds exactly */
function within(r: ValueRange): boolean {
  const { lower, upper } = r;
  if (Number.isInteger(lower) && Number.isInteger(upper)) return lower >= -INT32 && upper < INT32;
  return lower >= -MANTISSA && upper <= MANTISSA;
}

function usersOf(blocks: readonly Block[]): Users {
  const users = new Map<BodyNode, BodyNode[]>();
  for (const b of blocks) {
    for (const n of b.nodes) {
      if (!users.has(n)) users.set(n, []);
      for (const x of operandsOf(n)) users.get(x)?.push(n);
    }
  }
  return users;
}

/** the nodes and all that hangs on them, but for what `stop` holds of */
function dominated(roots: readonly BodyNode[], users: Users, stop: (n: BodyNode) => boolean): Set<BodyNode> {
  const found = new Set(roots);
  const queue = [...roots];
  for (let n = queue.pop(); n !== undefined; n = queue.pop()) {
    for (const user of users.get(n) ?? []) {
      if (found.has(user) || stop(user)) continue;
      found.add(user);
      queue.push(user);
    }
  }
  return found;
}
