// Index inversion: a consumer that reads in a shuffled order and writes in the natural one is turned round, so that it
// reads what its producer has just written and scatters its writes instead. In: producer and consumer. Out: the data they
// share afterwards. Promises: after shared_data_after_inverting_indexing (`loop_index_inversion_in_fusion`); the change
// stays even if the pair is then refused, as in Inductor, unless the caller undoes it.

import { sameExprs, sum } from "../symbolic";
import { addTerms } from "../symbolic/arith";
import { factsOf } from "./access_facts";
import { normalize } from "./dependencies";
import { inverseFormula } from "./invert";
import { noteLoops } from "./loop_changes";
import { refreshDependencies } from "./nodes";
import { scoreFusionMemory } from "./score";
import { isGpu, isGroup, type SchedulerState } from "./state";
import type { AnyNode } from "./types";

const NONE = -1;

export function sharedDataAfterInvertingIndexing(s: SchedulerState, a: AnyNode, b: AnyNode): number {
  if (!isGpu(a) || !isGpu(b) || isGroup(b) || !b.body) return NONE;
  const produced = factsOf(a).loopedBuffers;
  if (b.readWrites.reads.length > 1 || b.readWrites.writes.length > 1) return NONE;
  const [read] = b.readWrites.reads;
  const [write] = b.readWrites.writes;
  if (read?.kind !== "memory" || write?.kind !== "memory") return NONE;
  const waits = new Set(b.unmetDependencies.map(d => d.name));
  if (waits.size > 1 || [...waits].some(n => !produced.has(n))) return NONE;
  const made = a.readWrites.writes.find(d => d.name === read.name);
  if (made?.kind !== "memory") return NONE;
  const natural = normalize(made, s.sizevars);
  if (natural.index !== write.index && !sameExprs(natural.sizes, write.sizes)) return NONE;
  if (!sameExprs(read.sizes, write.sizes) || read.vars.length !== 1) return NONE;
  const { body } = b;
  const [v, ...moreVars] = body.iterVars;
  if (body.indexing.size !== 2 || body.subblocks.size > 0 || v === undefined || moreVars.length) return NONE;
  const loads = new Set(
    body.block.nodes.flatMap(n => (n.op === "load" && n.at.op === "get_index" ? [n.at.index] : [])),
  );
  const [readName, ...others] = loads;
  const writeName = [...body.indexing.keys()].find(k => k !== readName);
  const readIndex = readName === undefined ? undefined : body.indexing.get(readName);
  const writeIndex = writeName === undefined ? undefined : body.indexing.get(writeName);
  if (others.length || readName === undefined || writeName === undefined || !readIndex || !writeIndex) return NONE;
  const inverse = inverseFormula(sum(addTerms(readIndex).map(t => s.sizevars.combineModularIndexingPairs(t))), v);
  if (!inverse) return NONE;
  const indexing = new Map(body.indexing);
  indexing.set(readName, writeIndex);
  indexing.set(writeName, inverse);
  noteLoops(s, b);
  b.body = { ...body, indexing };
  refreshDependencies(s, b, true);
  const score = scoreFusionMemory(s, a, b);
  s.events.push({ kind: "note", level: "INFO", text: `Shared memory after inversion: ${score}` });
  return score;
}
