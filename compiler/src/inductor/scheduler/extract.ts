// In: loop bodies. Out: what they read and write as dependencies. Promises: a node's reads keep the order of the loads in its
// body; indices of bodies that walk alike are worked out once. After extract_read_writes (torch/_inductor/dependencies.py).
import type { Block, LoopBody } from "../ir/loop_body";
import { type Expr, int, intValue, isSizeFree, type SymExpr, sameExprs, substitute, sym } from "../symbolic";
import type { SizeVars } from "../symbolic/size_vars";
import { type Canonical, dropTrailing, indexVars, type MemoryDep, memoryDep, normalizeIndex } from "./dependencies";
import type { Dep, ReadWrites } from "./types";

interface Extraction {
  readonly normalize: boolean;
  readonly prefix: string;
}

/**
 * What one body reads and writes. Indices are in d0.. over the loops of `sizes`; with `normalize` every index has its own
 * loops merged as far as it allows, in c0...
 */
export function extractReadWrites(
  body: LoopBody,
  sizes: readonly [readonly Expr[], readonly Expr[]],
  sizevars: SizeVars,
  options: Extraction = { normalize: false, prefix: "d" },
): ReadWrites {
  const walk = walkOf(body, sizes, sizevars, options);
  const reads = new Set<Dep>();
  const writes = new Set<Dep>();
  const indexExprs = new Set<Expr>();
  const at = (node: Block["nodes"][number]): Access =>
    (node.op === "get_index" ? walk.at(node.index, sizevars) : undefined) ?? walk.of(int(0), sizevars);
  const dep = (name: string, { canonical }: Access, mode: MemoryDep["mode"] = null): MemoryDep =>
    memoryDep(name, canonical.index, canonical.vars, canonical.sizes, mode);
  const visit = (block: Block): void => {
    for (const n of block.nodes) {
      if (n.op === "load") reads.add(dep(n.buffer, at(n.at)));
      else if (n.op === "load_seed") reads.add(dep(n.buffer, walk.of(int(n.offset), sizevars)));
      else if (n.op === "store") writes.add(dep(n.buffer, at(n.at), n.mode));
      else if (n.op === "store_reduction") writes.add(dep(n.buffer, at(n.at)));
      else if (n.op === "index_expr") indexExprs.add(at(n.at).index);
      else if (n.op === "masked") {
        const inner = body.subblocks.get(n.subblock);
        if (inner) visit(inner);
      }
    }
  };
  visit(body.block);
  return { reads: [...reads], writes: [...writes], indexExprs: [...indexExprs], rangeVars: walk.rangeVars };
}

/** an index over the loops that a body is walked with, and as a dependency has it */
interface Access {
  readonly index: Expr;
  readonly canonical: Canonical;
}

/** A body's indices over given loops, each worked out when it is first asked for. */
class Walk {
  readonly rangeVars: readonly SymExpr[];
  private readonly replace = new Map<SymExpr, Expr>();
  private readonly simplified: ReadonlyMap<SymExpr, Expr>;
  private readonly vars: SymExpr[] = [];
  private readonly sizes: Expr[] = [];
  private readonly known = new Map<string, Access>();

  constructor(
    private readonly body: Pick<LoopBody, "iterVars" | "reduceVars" | "indirect" | "indexing">,
    readonly loops: readonly [readonly Expr[], readonly Expr[]],
    sizevars: SizeVars,
    readonly options: Extraction,
  ) {
    const { args, ranges } = indexVars(loops, options.prefix);
    for (const [i, v] of body.iterVars.entries()) this.replace.set(v, args[0][i] ?? int(0));
    for (const [i, v] of body.reduceVars.entries()) this.replace.set(v, args[1][i] ?? int(0));
    for (const [i, v] of body.indirect.entries()) this.replace.set(v, sym(`tmp${i}`, { kind: "indirect" }));
    const simplified = new Map<SymExpr, Expr>();
    for (const [v, range] of ranges) {
      const size = sizevars.simplify(range);
      simplified.set(v, size);
      if (intValue(size) === 1) continue;
      this.vars.push(v);
      this.sizes.push(size);
    }
    this.simplified = simplified;
    this.rangeVars = options.normalize ? [] : [...ranges.keys()];
  }

  isOver(body: LoopBody): boolean {
    const { iterVars, reduceVars, indirect } = this.body;
    return (
      sameExprs(iterVars, body.iterVars) && sameExprs(reduceVars, body.reduceVars) && sameExprs(indirect, body.indirect)
    );
  }

  /** of the body's index of that name */
  at(name: string, sizevars: SizeVars): Access | undefined {
    let access = this.known.get(name);
    if (access === undefined) {
      const e = this.body.indexing.get(name);
      if (e === undefined) return undefined;
      access = this.of(substitute(e, this.replace), sizevars);
      this.known.set(name, access);
    }
    return access;
  }

  of(index: Expr, sizevars: SizeVars): Access {
    const canonical = this.options.normalize
      ? normalizeIndex(index, this.simplified, sizevars)
      : dropTrailing(index, this.vars, this.sizes);
    return { index, canonical };
  }
}

/** bodies that walk alike have their indices in common (withKnownLoops), so what is found out once serves all of them */
const walks = new WeakMap<LoopBody["indexing"], Walk[]>();

function walkOf(
  body: LoopBody,
  sizes: readonly [readonly Expr[], readonly Expr[]],
  sizevars: SizeVars,
  options: Extraction,
): Walk {
  const { iterVars, reduceVars, indirect, indexing } = body;
  let list = walks.get(indexing);
  const known = list?.find(
    w =>
      w.options.normalize === options.normalize &&
      w.options.prefix === options.prefix &&
      sameExprs(w.loops[0], sizes[0]) &&
      sameExprs(w.loops[1], sizes[1]) &&
      w.isOver(body),
  );
  if (known) return known;
  const walk = new Walk({ iterVars, reduceVars, indirect, indexing }, sizes, sizevars, options);
  // symbolic sizes may be narrowed later
  if (!sizes[0].every(isSizeFree) || !sizes[1].every(isSizeFree)) return walk;
  for (const e of indexing.values()) if (!isSizeFree(e)) return walk;
  if (list === undefined) {
    list = [];
    walks.set(indexing, list);
  }
  list.push(walk);
  return walk;
}
