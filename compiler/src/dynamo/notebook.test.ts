import { expect, test } from "vitest";
import { analysedProject } from "./infer/testing/analysed";
import { notebookFault, splitCells } from "./notebook";

const notebook = (...sources: string[]): string =>
  JSON.stringify({ cells: sources.map(source => ({ cell_type: "code", source })) });

test("what is no notebook says why, and what is one says nothing", () => {
  expect(notebookFault("/w/a.ipynb", '{"cells": [')).toMatch(/^this is no notebook: /);
  expect(notebookFault("/w/a.ipynb", "[1]")).toBe("this is no notebook: it has no list of cells");
  expect(notebookFault("/w/a.ipynb", '{"worksheets": []}')).toMatch(/format 3/);
  expect(notebookFault("/w/a.ipynb", notebook("x = 1"))).toBeNull();
  expect(notebookFault("/w/a.py", "{")).toBeNull();
});

test("magics, questions and cells in other languages are no Python", () => {
  const texts = splitCells(
    "/w/a.ipynb",
    notebook("%%bash\necho hi", "%%time\n!ls\nnet??\n?net\nx = 1 if y else z", "if a:\n    %matplotlib inline"),
  ).map(c => c.text);
  expect(texts).toEqual(["", "pass\npass\npass\npass\nx = 1 if y else z", "if a:\n    pass"]);
});

test("an error is said once", () => {
  const r = analysedProject({ "pack/model.py": "import torch\ndef f(x:\n    return x\n\ndef g(x):\n    return x\n" });
  const said = r.diagnostics.filter(d => d.code === "syntax").map(d => `${d.span.line}:${d.span.column} ${d.message}`);
  expect(said.length).toBeGreaterThan(0);
  expect(new Set(said).size).toBe(said.length);
});
