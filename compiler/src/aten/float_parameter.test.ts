import { describe, expect, it } from "vitest";
import { InternTable, withInternTable } from "../inductor/symbolic/intern";
import { type FloatParameter, floatKey, floatParameter, isLiteral, markFiller, markOf } from "./float_parameter";
import { PyFloat } from "./types";

const inTable = (f: () => void): void => withInternTable(new InternTable(), f);
const parameter = (value: number): FloatParameter => {
  const p = floatParameter(value);
  if (!p) throw new Error(`${value} is no parameter`);
  return p;
};

describe("float parameters", () => {
  it("note that they are asked for their value, arithmetic included, but not when they are compared", () =>
    inTable(() => {
      const [a, b, c] = [parameter(0.3), parameter(0.7), parameter(0.9)];
      expect(floatKey(a)).not.toBe(floatKey(b));
      expect([a.wasRead, b.wasRead, c.wasRead]).toEqual([false, false, false]);
      expect([a.value, Number(b)]).toEqual([0.3, 0.7]);
      expect([a.wasRead, b.wasRead, c.wasRead]).toEqual([true, true, false]);
    }));

  it("have the key and the mark of a plain float of the same value, which fixes them", () =>
    inTable(() => {
      const p = parameter(0.3);
      expect(floatKey(new PyFloat(0.3))).toBe(floatKey(p));
      expect(markOf(0.3)).toBe(p.mark);
      expect(p.wasRead).toBe(true);
      expect(floatParameter(0.3)).toBeNull();
    }));

  it("don't take a number that plain floats have gone by", () =>
    inTable(() => {
      expect(floatKey(0.5)).toBe("0.5");
      expect(isLiteral(0.5)).toBe(true);
      expect(floatParameter(0.5)).toBeNull();
    }));

  it("are no whole numbers, infinities or numbers far out", () =>
    inTable(() => {
      for (const x of [0, -0, 1, 3e5, Infinity, -Infinity, NaN, 1e300 / 7, 1e-40])
        expect(floatParameter(x), String(x)).toBeNull();
      expect([floatKey(0), floatKey(-0)]).toEqual(["0", "-0"]);
    }));

  it("are filled in: a mark's own number where no other is given", () =>
    inTable(() => {
      const [a, b] = [parameter(0.3), parameter(0.7)];
      const text = `x * ${a.mark} + ${b.mark}`;
      const fill = markFiller(new Map([[a.id, 0.4]]), String);
      // texts are filled in when they are read
      inTable(() => expect(fill(text)).toBe("x * 0.4 + 0.7"));
    }));
});
