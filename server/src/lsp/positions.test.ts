import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chooseEncoding, fromUtf16, TextLines, toUtf16 } from "./positions";

describe("positions", () => {
  it("count bytes, code units or code points as the client asked", () => {
    const line = "é𝒳 = torch";
    expect(fromUtf16(line, 3, "utf-8")).toBe(6);
    expect(fromUtf16(line, 3, "utf-16")).toBe(3);
    expect(fromUtf16(line, 3, "utf-32")).toBe(2);
  });

  it("come back unchanged from every encoding, at every character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(), (line, n) => {
        const points = [...line];
        const column = points.slice(0, n % (points.length + 1)).join("").length;
        for (const e of ["utf-8", "utf-16", "utf-32"] as const)
          expect(toUtf16(line, fromUtf16(line, column, e), e)).toBe(column);
      }),
    );
  });

  it("inside a character mean its beginning", () => {
    expect(toUtf16("é", 1, "utf-8")).toBe(0);
  });

  it("are read in the client's first encoding that is known", () => {
    expect(chooseEncoding(["utf-7", "utf-32", "utf-8"])).toBe("utf-32");
    expect(chooseEncoding(undefined)).toBe("utf-16");
  });

  it("of a notebook's cell start at the cell's first line", () => {
    const cell = new TextLines("a = 1\r\nb = 2", "utf-16", 11);
    expect(cell.position(12, 4)).toEqual({ line: 1, character: 4 });
    expect(cell.fromClient({ line: 1, character: 0 })).toEqual({ line: 12, column: 0 });
    expect(cell.textOf(11)).toBe("a = 1");
    expect(cell.holds(13)).toBe(false);
  });
});
