// The texts of a plan, each written when it is first read: an editor shows kernels and bytes after every keystroke, and the
// code once in a while. In: how code is generated, the eager graph. Out: a writer of a plan's output code.
import type { FxGraph } from "../fx/graph";
import type { CodegenOptions } from "../inductor/codegen/triton/options";
import { inductorCode } from "../inductor/codegen/wrapper/inductor";
import { standaloneCode } from "../inductor/codegen/wrapper/standalone";
import type { ExecutablePlan } from "../inductor/plan/types";
import { internTable, withInternTable } from "../inductor/symbolic/intern";
import { once } from "../once";
import { eagerCode } from "./eager_code";
import type { OutputCode } from "./types";

/** `finish` is applied to the eager module's text; the other texts are made of the plan's. */
export type CodeWriter = (plan: ExecutablePlan, finish: (text: string) => string) => OutputCode;

/** The properties of what is written are its own and enumerable, so that copies and JSON hold the texts. */
export function codeWriter(options: CodegenOptions, eager: FxGraph | null): CodeWriter {
  // expressions in the graph and in the plan's sizes belong to this table
  const table = internTable();
  const later = <T>(make: () => T): (() => T) => once(() => withInternTable(table, make));
  return (plan, finish) => {
    const inductor = later(() =>
      inductorCode(plan, options)
        .map(l => l.text)
        .join("\n"),
    );
    const standalone = later(() => {
      const lines = standaloneCode(plan, options);
      return { text: lines.map(l => l.text).join("\n"), lines: lines.map(l => l.origin?.at ?? []) };
    });
    const eagerText = later(() => {
      const text = eager && eagerCode(eager);
      return text && finish(text);
    });
    return {
      get inductor() {
        return inductor();
      },
      get standalone() {
        return standalone().text;
      },
      get eager() {
        return eagerText();
      },
      get lines() {
        return standalone().lines;
      },
    };
  };
}
