// Objects from before a trace that it wrote to, in order of the first write, and which of their attributes.
import type { PyObject } from "../objects/values";

export class WrittenObjects {
  private readonly attributes = new Map<PyObject, Set<string>>();

  has(o: PyObject): boolean {
    return this.attributes.has(o);
  }

  /** `attribute`: what of the object was written, where it was an attribute */
  add(o: PyObject, attribute?: string): void {
    const names = this.attributes.get(o) ?? new Set();
    if (attribute !== undefined) names.add(attribute);
    this.attributes.set(o, names);
  }

  /** names of the attributes that were written, in order of the first write */
  attributesOf(o: PyObject): readonly string[] {
    return [...(this.attributes.get(o) ?? [])];
  }

  [Symbol.iterator](): Iterator<PyObject> {
    return this.attributes.keys();
  }
}
