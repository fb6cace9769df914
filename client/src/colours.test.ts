import { describe, expect, it } from "vitest";
import { kernelColour, textOn } from "./colours";

type Vector = readonly [number, number, number];

const linear = (hex: string): Vector =>
  [1, 3, 5].map(i => {
    const c = Number.parseInt(hex.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  }) as unknown as Vector;

const times = (m: readonly Vector[], v: Vector): Vector =>
  m.map(r => r[0] * v[0] + r[1] * v[1] + r[2] * v[2]) as unknown as Vector;

/** how people with no working cones of one kind see linear RGB (Machado, Oliveira and Fernandes 2009, severity 1) */
const SEEN: Readonly<Record<string, readonly Vector[]>> = {
  "all cones": [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const TO_XYZ: readonly Vector[] = [
  [0.4124 / 0.95047, 0.3576 / 0.95047, 0.1805 / 0.95047],
  [0.2126, 0.7152, 0.0722],
  [0.0193 / 1.08883, 0.1192 / 1.08883, 0.9505 / 1.08883],
];

function lab(rgb: Vector): Vector {
  const f = (t: number): number => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const [x, y, z] = times(TO_XYZ, rgb.map(c => Math.min(1, Math.max(0, c))) as unknown as Vector).map(f) as [
    number,
    number,
    number,
  ];
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const distance = (a: Vector, b: Vector): number => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
const luminance = (hex: string): number => times([[0.2126, 0.7152, 0.0722]], linear(hex))[0];
const numbers = [1, 2, 3, 4, 5, 6, 7, 8];

describe("kernel colours", () => {
  for (const theme of ["light", "dark"] as const) {
    for (const [eyes, matrix] of Object.entries(SEEN)) {
      it(`are told apart from their neighbours with ${eyes} in a ${theme} theme`, () => {
        const seen = numbers.map(n => lab(times(matrix, linear(kernelColour(n)[theme]))));
        const near = seen.flatMap((a, i) => {
          const next = seen[(i + 1) % seen.length];
          return next && distance(a, next) < 20 ? [`${i + 1} and ${((i + 1) % 8) + 1}`] : [];
        });
        expect(near).toEqual([]);
      });
    }

    it(`are told apart, each from each, in a ${theme} theme`, () => {
      const near = Object.values(SEEN).flatMap(matrix => {
        const seen = numbers.map(n => lab(times(matrix, linear(kernelColour(n)[theme]))));
        return seen.flatMap((a, i) =>
          seen.slice(i + 1).flatMap((b, j) => (distance(a, b) < 12 ? [`${i + 1} and ${i + j + 2}`] : [])),
        );
      });
      expect(near).toEqual([]);
    });

    it(`bear numbers that read well in a ${theme} theme`, () => {
      const ratio = (n: number): number => {
        const fill = kernelColour(n)[theme];
        const [a, b] = [luminance(fill), luminance(textOn(fill))].sort((x, y) => y - x) as [number, number];
        return (a + 0.05) / (b + 0.05);
      };
      expect(numbers.filter(n => ratio(n) < 4.5)).toEqual([]);
    });
  }

  it("come round after the last one", () => {
    expect(kernelColour(9)).toEqual(kernelColour(1));
  });
});
