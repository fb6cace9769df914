// A captured frame's floats, apart from the frame: slots, one for each number, in order of first use. In: a frame's
// arguments. Out: the numbers; the part of a memo's key that holds those a compile has asked for; the frame with the
// others as parameters.
import { type FloatParameter, floatParameter, isLiteral } from "../aten/float_parameter";
import type { PyFloat } from "../aten/types";
import type { FxGraph } from "../fx/graph";

export class FloatSlots {
  /** number by slot */
  readonly values: number[] = [];
  private readonly known = new Map<number, number>();

  slot(f: PyFloat): number {
    let slot = this.known.get(f.value);
    if (slot === undefined) {
      slot = this.values.push(f.value) - 1;
      this.known.set(f.value, slot);
    }
    return slot;
  }

  /** the slots that count by their number: those asked for, and those equal to a number that kernels have of their own */
  key(asked: ReadonlySet<number>): string {
    return this.values.flatMap((v, slot) => (asked.has(slot) || isLiteral(v) ? [`${slot}=${v}`] : [])).join();
  }

  /** Makes parameters of the graph's floats but those of slots that are asked for anyway. Out: parameters by slot. */
  parametrize(graph: FxGraph, asked: ReadonlySet<number>): ReadonlyMap<number, FloatParameter> {
    const made = new Map<number, FloatParameter>();
    const parameters = new Map<PyFloat, PyFloat>();
    const parameterOf = (f: PyFloat): PyFloat => {
      const slot = this.known.get(f.value);
      const parameter = slot === undefined || asked.has(slot) ? null : floatParameter(f.value);
      if (slot !== undefined && parameter) made.set(slot, parameter);
      return parameter ?? f;
    };
    for (const n of graph.nodes) {
      n.mapFloats(f => {
        // one object stays one object
        const known = parameters.get(f) ?? parameterOf(f);
        parameters.set(f, known);
        return known;
      });
    }
    return made;
  }
}
