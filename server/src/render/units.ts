// Numbers in the units a reader expects: bytes in powers of 1000 (as bandwidth is), times in us or ms.

export function formatBytes(bytes: number): string {
  for (const [unit, size] of [
    ["GB", 1e9],
    ["MB", 1e6],
    ["kB", 1e3],
  ] as const) {
    if (bytes >= size) return `${significant(bytes / size)} ${unit}`;
  }
  return `${bytes} B`;
}

/** microseconds in, "12.3 us" or "1.23 ms" out */
export function formatTime(us: number): string {
  return us >= 1000 ? `${significant(us / 1000)} ms` : `${significant(us)} us`;
}

/** bytes per second in, "3.9 TB/s" out */
export function formatBandwidth(bytesPerSecond: number): string {
  return bytesPerSecond >= 1e12
    ? `${significant(bytesPerSecond / 1e12)} TB/s`
    : `${significant(bytesPerSecond / 1e9)} GB/s`;
}

function significant(x: number): string {
  return x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2);
}

/** [8] -> "line 8", [8,9] -> "lines 8-9", [] -> "no line" */
export function lineWords(lines: readonly number[]): string {
  return lines.length ? `line${lines.length === 1 ? "" : "s"} ${formatLines(lines)}` : "no line";
}

/** [1,2,3,7] -> "1-3, 7" */
export function formatLines(lines: readonly number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const start = lines[i] as number;
    let end = start;
    while (lines[i + 1] === end + 1) end = lines[++i] as number;
    parts.push(start === end ? `${start}` : `${start}-${end}`);
  }
  return parts.join(", ");
}
