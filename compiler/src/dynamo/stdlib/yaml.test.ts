import { describe, expect, it } from "vitest";
import { PyFloat } from "../../aten/types";
import { parseYaml, parseYamlDocuments, type Yaml, YamlError } from "./yaml";

/** maps as objects, floats as text with a point */
function plain(y: Yaml): unknown {
  if (y instanceof Map) return Object.fromEntries([...y].map(([k, v]) => [k, plain(v)]));
  if (Array.isArray(y)) return y.map(plain);
  return y instanceof PyFloat ? `float ${y.value}` : y;
}
const read = (text: string): unknown => plain(parseYaml(text));

it("several documents of one text", () => {
  const documents = parseYamlDocuments("# sizes\n---\na: 1\n--- # widths\nb:\n  c: 2\n...\n");
  expect(documents).toEqual([new Map([["a", 1]]), new Map([["b", new Map([["c", 2]])]])]);
});

describe("YAML", () => {
  it("reads nested maps, lists and scalars", () => {
    expect(
      read(`# a model
model:
  width: 64   # channels
  rates: [1, 2.5, 1e-3, -4]
  names:
  - a: 1
    b: x y
  - c
  off: no
  nothing: ~
  lr: 1.0e-4
"quoted key": 'it''s'
`),
    ).toEqual({
      model: {
        width: 64,
        rates: [1, "float 2.5", "1e-3", -4],
        names: [{ a: 1, b: "x y" }, "c"],
        off: false,
        nothing: null,
        lr: "float 0.0001",
      },
      "quoted key": "it's",
    });
  });

  it("reads rows of layers as detection configs write them", () => {
    expect(
      read(
        "nc: 80\nbackbone:\n  # [from, number, module, args]\n  [[-1, 1, Conv, [64, 6, 2, 2]], # 0\n   [-1, 3, C3, [128]],\n  ]\n",
      ),
    ).toEqual({
      nc: 80,
      backbone: [
        [-1, 1, "Conv", [64, 6, 2, 2]],
        [-1, 3, "C3", [128]],
      ],
    });
    expect(read("head:\n  - [-1, 1, nn.Upsample, [None, 2, 'nearest']]\n")).toEqual({
      head: [[-1, 1, "nn.Upsample", ["None", 2, "nearest"]]],
    });
  });

  it("follows anchors, merges and text blocks", () => {
    expect(
      read("base: &b\n  x: 1\n  y: 2\nnet:\n  <<: *b\n  y: 3\nnote: |\n  one\n  two\nflow: {a: 1, b: [x, y]}\n"),
    ).toEqual({
      base: { x: 1, y: 2 },
      net: { y: 3, x: 1 },
      note: "one\ntwo\n",
      flow: { a: 1, b: ["x", "y"] },
    });
  });

  it("knows escapes in double quotes alone", () => {
    expect(read(`a: "x\\n\\"y\\\\n"\nb: 'x\\n'\n`)).toEqual({ a: 'x\n"y\\n', b: "x\\n" });
  });

  it("refuses what it can't read, and ends on any text", () => {
    expect(() => parseYaml("a: [1, 2")).toThrow(YamlError);
    expect(() => parseYaml("a: *nobody")).toThrow(YamlError);
    const text = "a: &x [1, {b: 'c'}]\nd:\n - - 1\n   - >-\n     z\n - ? q\n";
    for (let n = 0; n < text.length; n++) {
      try {
        parseYaml(text.slice(0, n));
      } catch (e) {
        expect(e).toBeInstanceOf(YamlError);
      }
    }
  });
});
