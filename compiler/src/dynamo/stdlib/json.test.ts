// What json writes and reads: the expected texts are Python 3.11's own.
import { expect, test } from "vitest";
import { analysed, printed } from "../infer/testing/analysed";

const shown = (text: string): string => printed(analysed(`import json\n${text}`)).trimEnd();

test("values are written with their kinds, their order and their escapes", () => {
  expect(shown(`print(json.dumps([1, 2.0, "\\u00e9\\n", None, True, {"a": [], "b": {}}, 10 ** 20]))`)).toBe(
    '[1, 2.0, "\\u00e9\\n", null, true, {"a": [], "b": {}}, 100000000000000000000]',
  );
  expect(shown('print(json.dumps({"b": 1, "10": 2, 5: 1.5, None: 0, True: 1}))')).toBe(
    '{"b": 1, "10": 2, "5": 1.5, "null": 0, "true": 1}',
  );
});

test("options say how", () => {
  expect(shown('print(json.dumps({"b": [1, {"c": 2}], "a": []}, indent=2, sort_keys=True))')).toBe(
    '{\n  "a": [],\n  "b": [\n    1,\n    {\n      "c": 2\n    }\n  ]\n}',
  );
  expect(shown('print(json.dumps(["\\u00e9", {1}], separators=(",", ":"), ensure_ascii=False, default=list))')).toBe(
    '["é",[1]]',
  );
});

test("objects are read in their order, numbers with their kind and size", () => {
  expect(shown(`print(json.loads('{"b": 1, "10": 2.0, "2": [1e3, 12345678901234567890], "n": null}'))`)).toBe(
    "{'b': 1, '10': 2.0, '2': [1000.0, 12345678901234567890], 'n': None}",
  );
});

test.each([
  ["[1,]", "Expecting value: line 1 column 4 (char 3)"],
  ['{"a" 1}', "Expecting ':' delimiter: line 1 column 6 (char 5)"],
  ["1 2", "Extra data: line 1 column 3 (char 2)"],
  ['"a', "Unterminated string starting at: line 1 column 1 (char 0)"],
  ["{1: 2}", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"],
])("%s is refused", (text, why) => {
  expect(
    shown(`try:
    json.loads('${text}')
except json.JSONDecodeError as e:
    print(isinstance(e, ValueError), e)`),
  ).toBe(`True ${why}`);
});

test("what has no text in JSON is refused", () => {
  const refusal = (value: string): string =>
    shown(`x = []
x.append(x)
try:
    json.dumps(${value})
except (TypeError, ValueError) as e:
    print(e)`);
  expect(refusal("{1}")).toBe("Object of type set is not JSON serializable");
  expect(refusal("x")).toBe("Circular reference detected");
  expect(refusal("{(1,): 2}")).toBe("keys must be str, int, float, bool or None, not tuple");
});
