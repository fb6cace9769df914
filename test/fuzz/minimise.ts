// Delta debugging (Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input): drops ever smaller pieces of a
// failing input while it still fails. In: pieces and a judge. Out: pieces none of which can be dropped, or the best found
// within the number of trials.

export async function minimise<T>(
  input: readonly T[],
  fails: (pieces: readonly T[]) => Promise<boolean>,
  trials: number,
): Promise<{ readonly pieces: readonly T[]; readonly trials: number }> {
  let pieces = input;
  let left = trials;
  let parts = 2;
  while (pieces.length > 1 && left > 0) {
    const size = Math.ceil(pieces.length / parts);
    let smaller: readonly T[] | undefined;
    for (let at = 0; at < pieces.length && left > 0; at += size) {
      const rest = [...pieces.slice(0, at), ...pieces.slice(at + size)];
      left -= 1;
      if (rest.length && (await fails(rest))) {
        smaller = rest;
        break;
      }
    }
    if (smaller) {
      pieces = smaller;
      parts = Math.max(2, parts - 1);
    } else if (size === 1) break;
    else parts = Math.min(pieces.length, parts * 2);
  }
  return { pieces, trials: trials - left };
}

/** A text by lines first, then its longest lines by characters. */
export async function minimiseText(
  text: string,
  fails: (text: string) => Promise<boolean>,
  trials = 200,
): Promise<string> {
  const byLine = await minimise(text.split(/(?<=\n)/), lines => fails(lines.join("")), trials);
  let lines = [...byLine.pieces];
  let left = trials - byLine.trials;
  const order = lines.map((_, i) => i).sort((x, y) => (lines[y] ?? "").length - (lines[x] ?? "").length);
  for (const i of order.slice(0, 8)) {
    if (left <= 0) break;
    const put = (characters: readonly string[]): string =>
      [...lines.slice(0, i), characters.join(""), ...lines.slice(i + 1)].join("");
    const shorter = await minimise([...(lines[i] ?? "")], characters => fails(put(characters)), Math.min(left, 60));
    left -= shorter.trials;
    lines = lines.map((l, j) => (j === i ? shorter.pieces.join("") : l));
  }
  return lines.join("");
}
