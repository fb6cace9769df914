// The gutter's badge as SVG text. In: the numbers of the kernels behind a line, as a kind ("3", "3 5", "3 5 +"), and the
// theme. Out: a rounded square of 16 pixels. A line of two kernels shows both numbers on both colours; of more, the first
// two and a mark. Numbers are digits of our own, so nothing needs escaping.
import { kernelColour, textOn } from "./colours";

/** corner radius */
const R = 3;

export function kernelIcon(kind: string, theme: "light" | "dark"): string {
  const [first = "1", second, more] = kind.split(" ");
  const fill = kernelColour(Number(first))[theme];
  if (second === undefined) return svg(half(0.5, 15, fill, R, R) + label(first, 8, fill, sizeFor(first.length)));
  const other = kernelColour(Number(second))[theme];
  const size = Math.min(sizeFor(first.length + second.length), 8);
  const mark = more === undefined ? "" : `<rect x="9.5" y="12" width="5" height="1.5" fill="${textOn(other)}"/>`;
  return svg(
    half(0.5, 7.5, fill, R, 0) +
      half(8, 7.5, other, 0, R) +
      label(first, 4.3, fill, size) +
      label(second, 11.8, other, size) +
      mark,
  );
}

const svg = (content: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16">${content}</svg>`;

/** numbers of more digits in the same room */
const sizeFor = (characters: number): number => [11, 11, 9, 6.5, 5, 4][characters] ?? 4;

/** a box with its left and right corners rounded by `l` and `r` */
function half(x: number, width: number, fill: string, l: number, r: number): string {
  const [top, bottom, right] = [1, 15, x + width];
  const path = [
    `M${x + l} ${top}H${right - r}`,
    r ? `A${r} ${r} 0 0 1 ${right} ${top + r}V${bottom - r}A${r} ${r} 0 0 1 ${right - r} ${bottom}` : `V${bottom}`,
    `H${x + l}`,
    l ? `A${l} ${l} 0 0 1 ${x} ${bottom - l}V${top + l}A${l} ${l} 0 0 1 ${x + l} ${top}` : "",
    "Z",
  ].join("");
  return `<path d="${path}" fill="${fill}"/>`;
}

function label(text: string, x: number, fill: string, size: number): string {
  return `<text x="${x}" y="${8 + size * 0.36}" font-size="${size}" font-family="sans-serif" font-weight="bold" text-anchor="middle" fill="${textOn(fill)}">${text}</text>`;
}
