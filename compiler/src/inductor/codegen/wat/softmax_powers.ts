// The exponentials of a row's softmax, of which an online softmax works out each on its way to their sum. In: an analysed
// part. Out: the loop that works them out and the exp operations of later loops that ask for the same again, so that a
// row of scratch can hand them on. Two values are the same where the same operations make them of the same elements.
import type { DType } from "../../../aten/types";
import { type BodyHandler, runBody } from "../../ir/run_body";
import { type Expr, sym } from "../../symbolic/expr";
import { reductionOutputs } from "./accesses";
import type { Member, Part, Segment } from "./part";

export interface SoftmaxPowers {
  /** the loop that reduces */
  readonly reducing: Segment;
  /** exp operations of later loops by their number within the member: e^(reduced value - the row's maximum) */
  readonly uses: ReadonlyMap<Member, ReadonlySet<number>>;
}

/** null where no later loop asks for what an online softmax has worked out, or where a loop has several of them */
export function softmaxPowers(
  part: Part,
  simplify: (e: Expr) => Expr,
  memory: { dtype(buffer: string): DType; storage(buffer: string): string },
): SoftmaxPowers | null {
  const stored = new Map<string, { readonly index: Expr; readonly key: string }>();
  const uses = new Map<Member, Set<number>>();
  const online = new Map<string, Segment>();
  let unlike = 0;
  /** the key of what is compared with nothing */
  const other = (): string => `other ${unlike++}`;
  for (const segment of part.segments) {
    for (const member of segment.members) {
      let exps = 0;
      const handler: BodyHandler<string> = {
        constant: (value, as) => `${value} ${as}`,
        indexExpr: (index, as) => `index ${as} ${simplify(index).id}`,
        load: (buffer, index0) => {
          const index = simplify(index0);
          const known = stored.get(memory.storage(buffer));
          return known?.index === index ? known.key : known ? other() : `load ${buffer} ${index.id}`;
        },
        store: (buffer, index, key, mode) => {
          // others round what they are given
          const at = memory.storage(buffer);
          if (mode === null && memory.dtype(buffer) === "float32") stored.set(at, { index: simplify(index), key });
          else stored.delete(at);
        },
        storeReduction: (buffer, index, key) => {
          stored.set(memory.storage(buffer), { index: simplify(index), key });
        },
        toDtype: (x, as, from) => (as === from ? x : `${as}(${x})`),
        toDtypeBitcast: (x, as) => `bits ${as}(${x})`,
        // bodies number their indirect indices alike: what they are made of tells them apart
        indirectIndexing: x => sym(`at ${x}`, { kind: "indirect" }),
        checkBounds: () => undefined,
        masked: (mask, run, value) => `masked(${mask}, ${run()}, ${value})`,
        scan: dtypes => dtypes.map(other),
        sort: dtypes => dtypes.map(other),
        loadSeed: other,
        random: other,
        randint64: other,
        reduction: (_dtype, srcDtype, type, value) => {
          const key = `${type} ${srcDtype} (${value})`;
          if (type === "online_softmax_reduce" && segment.loop) online.set(String(value), segment);
          return reductionOutputs(type) === 1
            ? key
            : Array.from({ length: reductionOutputs(type) }, (_, i) => `${i} of ${key}`);
        },
        call: (fn, args) => {
          if (fn === "exp") {
            const [key] = [...online.keys()].filter(k => args[0] === differenceToMaximum(k));
            if (key !== undefined && segment.loop && online.get(key) !== segment)
              uses.set(member, (uses.get(member) ?? new Set()).add(exps));
            exps += 1;
          }
          return fn === "frexp" ? [0, 1].map(i => `${i} of frexp(${args})`) : `${fn}(${args.join(", ")})`;
        },
      };
      runBody(member.body, handler, member.iter, member.reduce);
    }
  }
  const [reducing] = online.values();
  return reducing && online.size === 1 && uses.size ? { reducing, uses } : null;
}

const differenceToMaximum = (key: string): string => `sub(${key}, 0 of online_softmax_reduce float32 (${key}))`;
