import type { ReportGraph } from "@fuselens/compiler";
import { describe, expect, it } from "vitest";
import { explainText } from "./explain_text";
import { reasonsPage } from "./reasons_page";
import { compilation, kernel, program, refusal } from "./testing";

const kernels = [kernel({ nodes: ["op0"] }), kernel({ nodes: ["op1"] })];

const explained = (r: Parameters<typeof refusal>[0]): string => {
  const graph = { ...compilation({ kernels }).graph, refusals: [refusal(r)] } as unknown as ReportGraph;
  const head = { file: "a.py", preset: "p", target: "t", graph_breaks: [], diagnostics: [] };
  return explainText({ ...head, graphs: [graph] });
};

describe("a refusal in words", () => {
  it("tells the node that writes the buffer from the one that reads it", () => {
    const both = explained({});
    expect(both).toContain("op0 reads arg0_1 at d0, op1 reads it at d1\n");
    const written = { buffer: "buf0", aAccess: "writes" } as const;
    expect(explained(written)).toContain("op0 writes buf0 at d0, op1 reads it at d1\n");
    const page = reasonsPage(program({}), "f", [refusal(written)], [], []);
    expect(page).toContain("- `op0` writes `buf0` at `d0`\n- `op1` reads `buf0` at `d1`");
  });

  it("names no place where none is known, and no buffer where none is shared", () => {
    expect(explained({ bIndex: "" })).toContain("op0 reads arg0_1 at d0, op1 reads it\n");
    const none = { buffer: null, aAccess: null, bAccess: null, aIndex: "", bIndex: "" } as const;
    expect(explained(none)).not.toMatch(/op0 |same buffer/);
  });

  it("adds to Inductor's phrase what it leaves out, and only to that one", () => {
    expect(explained({})).toContain("no shared data (the same buffer, indexed in another way) [no_shared_data]");
    expect(explained({ code: "tiling_mismatch", detail: "tiling" })).toContain(": tiling [tiling_mismatch]");
  });
});
