// One code object under construction. In: instructions from the compiler, with labels for jump targets. Out: Code. Keeps
// what is needed to emit correct exits: the static stack depth, the blocks around the current statement, the handler
// that is active for each instruction, and where each name lives.
import type * as ast from "../../python/ast";
import {
  Code,
  type Handler,
  type Instruction,
  JUMPS,
  type OpName,
  type Position,
  type SourceFile,
} from "./instructions";
import type { Scope, ScopeOwner, Scopes } from "./scope";

export class Label {
  at = -1;
}

export type Block =
  | { readonly kind: "loop"; readonly next: Label; readonly exit: Label; readonly hasIterator: boolean }
  | { readonly kind: "try" }
  | { readonly kind: "with"; readonly at: Position }
  | { readonly kind: "finally"; readonly body: readonly ast.Stmt[] }
  | { readonly kind: "handler"; readonly name: string | null }
  | { readonly kind: "finally_handler" };

interface PendingHandler {
  readonly label: Label;
  readonly depth: number;
  readonly handling: number;
  readonly givesUp: boolean;
}

export class Unit {
  readonly code: Code;
  /** values that statements around the current one keep on the stack */
  depth = 0;
  handling = 0;
  readonly blocks: Block[] = [];
  private readonly active: PendingHandler[] = [];
  private readonly handlerOf: (PendingHandler | null)[] = [];
  private readonly jumps: { instruction: Instruction; label: Label }[] = [];
  /** innermost last; the first is the function's own scope */
  readonly scopes: Scope[];
  private readonly slots = new Map<Scope, Map<string, number>>();
  private readonly cells = new Map<Scope, Map<string, number>>();
  at: Position;

  constructor(
    readonly all: Scopes,
    owner: ScopeOwner,
    readonly parent: Unit | null,
    name: string,
    file: SourceFile,
    readonly text: string,
    firstLine: number,
    kind: Code["kind"],
  ) {
    const scope = this.scopeOf(owner);
    this.scopes = [scope];
    const outer = parent?.qualname;
    this.code = new Code(name, outer ? `${outer}${name}` : name, file, firstLine, kind);
    this.code.isGenerator = scope.isGenerator;
    for (const n of scope.captured) this.cellSlot(scope, n);
    for (const n of scope.free) this.code.freeNames.push(n);
    this.at = { span: { line: firstLine, column: 0, endLine: firstLine, endColumn: 0, start: 0, end: 0 } };
  }

  /** prefix for names defined inside */
  private get qualname(): string {
    if (this.code.kind === "module") return "";
    return this.code.kind === "class" ? `${this.code.qualname}.` : `${this.code.qualname}.<locals>.`;
  }

  scopeOf(owner: ScopeOwner): Scope {
    const s = this.all.get(owner);
    if (!s) throw new Error("every block was analysed");
    return s;
  }

  // ---- emission

  emit(op: OpName, arg = 0, data: unknown = undefined, at: Position = this.at): Instruction {
    const instruction = { op, arg, data, at };
    this.code.instructions.push(instruction);
    this.handlerOf.push(this.active[this.active.length - 1] ?? null);
    return instruction;
  }
  jump(op: OpName, label: Label): void {
    this.jumps.push({ instruction: this.emit(op), label });
  }
  mark(label: Label): void {
    label.at = this.code.instructions.length;
  }
  /** runs `body` with exceptions going to the label */
  guarded(label: Label, body: () => void, givesUp = false): void {
    this.active.push({ label, depth: this.depth, handling: this.handling, givesUp });
    body();
    this.active.pop();
  }
  /** runs `body` as if the n innermost blocks were left (their exits are emitted inside it) */
  outside(handlers: number, body: () => void): void {
    const kept = this.active.splice(this.active.length - handlers, handlers);
    body();
    this.active.push(...kept);
  }

  finish(): Code {
    for (const { instruction, label } of this.jumps) {
      if (label.at < 0) throw new Error("label was never placed");
      instruction.arg = label.at;
    }
    const made = new Map<PendingHandler, Handler>();
    for (const pending of this.handlerOf) {
      if (!pending) {
        this.code.handlers.push(null);
        continue;
      }
      let handler = made.get(pending);
      if (!handler) {
        handler = {
          target: pending.label.at,
          depth: pending.depth,
          handling: pending.handling,
          givesUp: pending.givesUp,
        };
        made.set(pending, handler);
      }
      this.code.handlers.push(handler);
    }
    for (const i of this.code.instructions) {
      if (JUMPS.has(i.op) && i.arg > this.code.instructions.length) throw new Error("jump out of the code");
    }
    return this.code;
  }

  // ---- names

  slot(scope: Scope, name: string): number {
    let map = this.slots.get(scope);
    if (!map) {
      map = new Map();
      this.slots.set(scope, map);
    }
    let slot = map.get(name);
    if (slot === undefined) {
      slot = this.code.varnames.length;
      this.code.varnames.push(name);
      map.set(name, slot);
    }
    return slot;
  }
  /** a slot that no name of the source reaches */
  temporary(label: string): number {
    this.code.varnames.push(label);
    return this.code.varnames.length - 1;
  }

  cellSlot(scope: Scope, name: string): number {
    let map = this.cells.get(scope);
    if (!map) {
      map = new Map();
      this.cells.set(scope, map);
    }
    let cell = map.get(name);
    if (cell === undefined) {
      cell = this.code.cellNames.length;
      this.code.cellNames.push(name);
      map.set(name, cell);
    }
    return cell;
  }

  /** index among the frame's cells: own cells first, then those of the closure */
  private derefIndex(name: string): number | undefined {
    const free = this.code.freeNames.indexOf(name);
    return free < 0 ? undefined : ~free;
  }

  where(name: string): { readonly kind: "fast" | "deref" | "class_deref" | "global" | "name"; readonly index: number } {
    for (let i = this.scopes.length - 1; i >= 0; i--) {
      const s = this.scopes[i];
      if (!s) continue;
      if (s.globals.has(name)) return { kind: "global", index: 0 };
      if (s.kind === "comprehension") {
        if (!s.bound.has(name)) continue;
        if (s.captured.has(name)) return { kind: "deref", index: this.cellSlot(s, name) };
        return { kind: "fast", index: this.slot(s, name) };
      }
      if (s.kind === "function") {
        if (s.bound.has(name) && !s.nonlocals.has(name)) {
          if (s.captured.has(name)) return { kind: "deref", index: this.cellSlot(s, name) };
          return { kind: "fast", index: this.slot(s, name) };
        }
        const free = this.derefIndex(name);
        return free === undefined ? { kind: "global", index: 0 } : { kind: "deref", index: free };
      }
      if (s.kind === "class") {
        const free = this.derefIndex(name);
        if (free !== undefined) return { kind: "class_deref", index: free };
      }
    }
    return { kind: "name", index: 0 };
  }

  load(name: string): void {
    const w = this.where(name);
    if (w.kind === "fast") this.emit("LOAD_FAST", w.index, name);
    else if (w.kind === "deref") this.emit("LOAD_DEREF", w.index, name);
    else if (w.kind === "class_deref") this.emit("LOAD_CLASSDEREF", w.index, name);
    else this.emit(w.kind === "global" ? "LOAD_GLOBAL" : "LOAD_NAME", 0, name);
  }

  store(name: string): void {
    const w = this.where(name);
    if (w.kind === "fast") this.emit("STORE_FAST", w.index, name);
    else if (w.kind === "deref") this.emit("STORE_DEREF", w.index, name);
    else if (w.kind === "class_deref" || w.kind === "name") this.emit("STORE_NAME", 0, name);
    else this.emit("STORE_GLOBAL", 0, name);
  }

  delete(name: string): void {
    const w = this.where(name);
    if (w.kind === "fast") this.emit("DELETE_FAST", w.index, name);
    else if (w.kind === "deref") this.emit("DELETE_DEREF", w.index, name);
    else this.emit(w.kind === "global" ? "DELETE_GLOBAL" : "DELETE_NAME", 0, name);
  }

  /** pushes the closure of a child; true if it has one */
  closure(child: Code): boolean {
    if (child.freeNames.length === 0) return false;
    for (const name of child.freeNames) this.emit("LOAD_CLOSURE", this.closureIndex(name), name);
    this.emit("BUILD_TUPLE", child.freeNames.length);
    return true;
  }

  private closureIndex(name: string): number {
    for (let i = this.scopes.length - 1; i >= 0; i--) {
      const s = this.scopes[i];
      if (s?.captured.has(name)) return this.cellSlot(s, name);
    }
    const free = this.derefIndex(name);
    if (free === undefined) throw new Error(`no cell for ${name}`);
    return free;
  }
}
