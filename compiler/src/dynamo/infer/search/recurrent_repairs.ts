// Inputs and states that recurrent layers ask for by their error messages. In: the tensors of a state and its failure. Out:
// states to try.
import { type Failure, type State, tensor } from "../types";
import { type Leaf, resized, withLeaf } from "./leaves";

const WIDTH = /equal to input_size\. Expected (\d+), got (\d+)/;
const STATE = /^Expected hidden(?:\[\d\])? size \(([\d, ]+)\), got \[([\d, ]*)\]/;
const RANK = /Expected input to be 2D or 3D, got \dD/;
const STATE_RANK = /^For (?:un)?batched \d-D input, hx (?:and cx )?should also be (\d)-D/;

const numbersIn = (text: string): number[] => (text.match(/\d+/g) ?? []).map(Number);

export function recurrentRepairs(state: State, leaves: readonly Leaf[], { message }: Failure): State[] {
  const [, wanted, got] = WIDTH.exec(message)?.map(Number) ?? [];
  if (wanted !== undefined) {
    const read = leaves.filter(l => l.c.dims.length > 1 && l.c.dims[l.c.dims.length - 1] === got);
    return read.map(l => withLeaf(state, l.path, resized(l.c, [l.c.dims.length - 1], wanted)));
  }
  const [, asked, had] = STATE.exec(message) ?? [];
  if (asked !== undefined) {
    const dims = numbersIn(asked);
    const like = leaves.filter(l => l.c.dims.join() === numbersIn(had ?? "").join());
    // the two states of an LSTM are alike
    const all = like.reduce((s, l) => withLeaf(s, l.path, { ...l.c, dims }), state);
    return [...(like.length > 1 ? [all] : []), ...like.map(l => withLeaf(state, l.path, { ...l.c, dims }))];
  }
  if (RANK.test(message))
    return leaves
      .filter(l => l.c.dims.length > 3)
      .map(l => withLeaf(state, l.path, tensor(l.c.dtype, l.c.dims.slice(0, 3))));
  const [, rank] = STATE_RANK.exec(message)?.map(Number) ?? [];
  if (rank === undefined) return [];
  const states = leaves.filter(l => l.c.dims.length < rank);
  return states.map(l => withLeaf(state, l.path, tensor(l.c.dtype, [1, ...l.c.dims].slice(-rank))));
}
