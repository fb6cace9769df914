// Which loop runs innermost. In: strides of every access over the loops, and the loops' sizes. Out: loop numbers,
// innermost first (pick_loop_order, torch/_inductor/ir.py). Promises: ties keep the later dimension inside.

/** `strides[k][d]`: step of access k over loop d. `sizes[d]` is the loop's size, or undefined if symbolic. */
export function pickLoopOrder(
  strides: readonly (readonly number[])[],
  sizes: readonly (number | undefined)[],
): number[] {
  const compare = (a: number, b: number): number => {
    const oneA = sizes[a] === 1;
    const oneB = sizes[b] === 1;
    // loops of one step don't matter and go outside
    if (oneA || oneB) return Number(oneA) - Number(oneB);
    let aFirst = 0;
    let bFirst = 0;
    for (const s of strides) {
      const sa = Math.abs(s[a] as number);
      const sb = Math.abs(s[b] as number);
      if (sb === 0 || sa < sb) aFirst++;
      if (sa === 0 || sb < sa) bFirst++;
    }
    return bFirst - aFirst || b - a;
  };
  // the votes need not be transitive, so the sort's own steps matter: V8's and CPython's are both binary insertion
  // for lists this short
  return sizes.map((_, i) => sizes.length - 1 - i).sort(compare);
}
