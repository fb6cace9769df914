/** Bytes read plus written per second by a copy of 64 MB, the best of a few; a yardstick, taken once at start. */
export function measureCopyBandwidth(): number {
  const bytes = 64 * 1024 * 1024;
  const from = new Uint8Array(bytes).fill(1);
  const to = new Uint8Array(bytes);
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 4; i++) {
    const start = performance.now();
    to.set(from);
    best = Math.min(best, performance.now() - start);
  }
  return (2 * bytes) / (best / 1000);
}
