// Eight colours that people with colour-blindness tell apart (after Okabe and Ito, 2008), by kernel number. Each comes
// with the kernel's number wherever it is used, so that colour is never the only sign.

export interface KernelColour {
  /** fill, and text on it, in a light and in a dark theme */
  readonly light: string;
  readonly dark: string;
}

/** in an order in which neighbours, which often stand on neighbouring lines, look least alike to all eyes */
const COLOURS: readonly KernelColour[] = [
  { light: "#D98E00", dark: "#E69F00" },
  { light: "#3FA3DC", dark: "#56B4E9" },
  { light: "#4D4D4D", dark: "#E4E4E4" },
  { light: "#0F5FA8", dark: "#2C6FD1" },
  { light: "#D9CB2E", dark: "#F0E442" },
  { light: "#B8628F", dark: "#CC79A7" },
  { light: "#C45500", dark: "#E5762D" },
  { light: "#008A66", dark: "#00A67A" },
];

export function kernelColour(number: number): KernelColour {
  return COLOURS[(number - 1) % COLOURS.length] ?? { light: "#4D4D4D", dark: "#E4E4E4" };
}

/** black or white, whichever reads better on a fill */
export function textOn(fill: string): string {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map(i => Number.parseInt(fill.slice(i, i + 2), 16) / 255);
  return 0.2126 * r ** 2.2 + 0.7152 * g ** 2.2 + 0.0722 * b ** 2.2 > 0.18 ? "#000000" : "#FFFFFF";
}
