// What Dynamo looks at before it inlines a call, which makes graph inputs of tensors that the body reads later or never
// (trace_rules.check_verbose, build_inline_tracer). In: a function and its positional arguments. Out: tensors, in order.
import type { Code } from "../code/instructions";
import { PyFunction } from "../interp/frame";
import { PyBuiltin, PyClass, PyList, PyModule, PyTuple, type Value } from "../objects/values";
import { PyTensor } from "../torch/objects";

export class InlinedCalls {
  private readonly seen = new Set<Code>();

  /** `nested`: whether a function was made by the traced code */
  constructor(private readonly nested: (f: PyFunction) => boolean) {}

  /** the tensors that a call of f makes inputs, if they are none yet */
  tensors(f: PyFunction, args: readonly Value[]): PyTensor[] {
    const out: PyTensor[] = [];
    if (!this.seen.has(f.code)) {
      this.seen.add(f.code);
      this.constant(f, out, new Set());
    }
    if (args[0] instanceof PyTensor) out.push(args[0]);
    return out;
  }

  /** whether a value is a constant to Dynamo; the first tensor that says it isn't one is looked at */
  private constant(v: Value | undefined, out: PyTensor[], within: Set<PyFunction>): boolean {
    if (v instanceof PyTensor) {
      out.push(v);
      return false;
    }
    if (v instanceof PyFunction) {
      if (v.closure.length === 0 || !this.nested(v)) return true;
      if (within.has(v)) return false;
      within.add(v);
      return cellsOf(v).every(c => this.constant(c, out, within));
    }
    if (v instanceof PyList || v instanceof PyTuple) return v.items.every(x => this.constant(x, out, within));
    return (
      typeof v !== "object" || v === null || v instanceof PyClass || v instanceof PyModule || v instanceof PyBuiltin
    );
  }
}

/** what a function closes over, in the order of the names */
const cellsOf = (f: PyFunction): (Value | undefined)[] =>
  f.code.freeNames
    .map((name, i) => ({ name, value: f.closure[i]?.value }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(c => c.value);
