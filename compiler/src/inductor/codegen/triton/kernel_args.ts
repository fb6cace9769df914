// A kernel's arguments (KernelArgs in torch/_inductor/codegen/common.py). In: buffers in the order the body touches them.
// Out: their names inside the kernel and the argument list. Promises: a removed buffer leaves its number unused.
import { add, type Expr, int } from "../../symbolic/expr";

export interface InplaceBuffer {
  readonly inner: string;
  /** all buffers that share the storage, oldest first */
  readonly names: string[];
  removed: boolean;
}

export type ArgDef =
  | { readonly kind: "tensor"; readonly name: string; readonly buffer: string; readonly role: "in" | "out" | "inout" }
  | { readonly kind: "size"; readonly name: string; readonly expr: Expr }
  | { readonly kind: "seed_offset"; readonly name: string; readonly value: number }
  | { readonly kind: "workspace"; readonly name: string; readonly workspace: Workspace };

export interface Workspace {
  readonly outer: string;
  readonly inner: string;
  readonly count: Expr;
  readonly dtype: "float32" | "uint8" | "int32";
  readonly zero: boolean;
}

export class KernelArgs {
  readonly inputs = new Map<string, string>();
  /** null: removed */
  readonly outputs = new Map<string, string | null>();
  readonly inplace = new Map<string, InplaceBuffer>();
  readonly sizes = new Map<Expr | number, string>();
  readonly workspaces: Workspace[] = [];

  constructor(private readonly realName: (buffer: string) => string) {}

  input(buffer: string): string {
    const name = this.realName(buffer);
    const out = this.outputs.get(name);
    if (out) return out;
    const shared = this.inplace.get(name);
    if (shared) return shared.inner;
    return lookup(name.startsWith("seed") ? "seed" : "in_ptr", this.inputs, name);
  }

  output(buffer: string): string {
    const name = this.realName(buffer);
    const shared = this.inplace.get(name);
    if (shared) return shared.inner;
    const known = this.outputs.get(name);
    if (known) return known;
    const arg = `out_ptr${this.outputs.size}`;
    this.outputs.set(name, arg);
    return arg;
  }

  makeInplace(input: string, output: string): void {
    const known = this.inplace.get(input);
    if (known) {
      known.names.push(output);
      this.inplace.set(output, known);
      return;
    }
    const index = new Set(this.inplace.values()).size;
    const shared: InplaceBuffer = { inner: `in_out_ptr${index}`, names: [input, output], removed: false };
    this.inplace.set(input, shared);
    this.inplace.set(output, shared);
  }

  size(e: Expr): string {
    const known = this.sizes.get(e);
    if (known) return known;
    const arg = `ks${this.sizes.size}`;
    this.sizes.set(e, arg);
    return arg;
  }

  /** an i32 argument that holds the position of a seed */
  seedOffset(value: number): string {
    const known = this.sizes.get(value);
    if (known) return known;
    const taken = [...this.sizes.values()].filter(v => v.startsWith("load_seed_offset")).length;
    const arg = taken === 0 ? "load_seed_offset" : `load_seed_offset${taken}`;
    this.sizes.set(value, arg);
    return arg;
  }

  workspace(count: Expr, dtype: Workspace["dtype"], zero: boolean, outer: string): string {
    const same = this.workspaces.length;
    const inner = same === 0 ? "ws_ptr" : `ws_ptr${same}`;
    this.workspaces.push({ outer, inner, count, dtype, zero });
    return inner;
  }

  /** room in the kernel's zeroed scratch memory, behind what is there already: its pointer and the offset in bytes */
  scratch(bytes: Expr, outer: () => string): { readonly pointer: string; readonly offset: Expr } {
    const at = this.workspaces.findIndex(w => w.zero && w.dtype === "uint8");
    const known = this.workspaces[at];
    if (!known) return { pointer: this.workspace(bytes, "uint8", true, outer()), offset: int(0) };
    this.workspaces[at] = { ...known, count: add(known.count, bytes) };
    return { pointer: known.inner, offset: known.count };
  }

  definitions(): ArgDef[] {
    const defs: ArgDef[] = [];
    for (const b of new Set(this.inplace.values())) {
      if (!b.removed)
        defs.push({ kind: "tensor", name: b.inner, buffer: b.names[b.names.length - 1] as string, role: "inout" });
    }
    for (const [buffer, name] of this.inputs)
      if (!this.inplace.has(buffer)) defs.push({ kind: "tensor", name, buffer, role: "in" });
    for (const [buffer, name] of this.outputs)
      if (name !== null && !this.inplace.has(buffer)) defs.push({ kind: "tensor", name, buffer, role: "out" });
    for (const [expr, name] of this.sizes)
      defs.push(typeof expr === "number" ? { kind: "seed_offset", name, value: expr } : { kind: "size", name, expr });
    for (const w of this.workspaces) defs.push({ kind: "workspace", name: w.inner, workspace: w });
    return defs;
  }
}

function lookup(prefix: string, map: Map<string, string>, name: string): string {
  let arg = map.get(name);
  if (arg === undefined) {
    arg = `${prefix}${map.size}`;
    map.set(name, arg);
  }
  return arg;
}
