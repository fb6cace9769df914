// The stack of a frame as instructions use it, and what a handler of an instruction is.
import type { FunctionSpec, Instruction } from "../../code/instructions";
import type { PyCell, PyDict, Value } from "../../objects/values";
import type { Interp, PyError } from "../api";
import type { Frame, PyGenerator } from "../frame";

/** What handlers need of the machine beyond Interp. */
export interface Runner extends Interp {
  resume(g: PyGenerator, sent: Value, thrown?: PyError): Value | undefined;
  runCode(code: FunctionSpec["code"], globals: PyDict, names: PyDict | null, cells?: PyCell[]): Frame;
}

export type Done = { readonly kind: "return" | "yield"; readonly value: Value };
/** does what an instruction does to its frame; gives how the frame's run ends, if it does */
export type Handler = (vm: Runner, f: Frame, i: Instruction) => Done | undefined;

export function pop(f: Frame): Value {
  const v = f.stack.pop();
  if (v === undefined) throw new Error("stack underflow");
  return v;
}

export function popN(f: Frame, n: number): Value[] {
  return n === 0 ? [] : f.stack.splice(f.stack.length - n, n);
}

export function peek(f: Frame, n: number): Value {
  const v = f.stack[f.stack.length - n];
  if (v === undefined) throw new Error("stack underflow");
  return v;
}

export const push = (f: Frame, v: Value): undefined => {
  f.stack.push(v);
  return undefined;
};
export const jump = (f: Frame, i: Instruction): undefined => {
  f.pc = i.arg;
  return undefined;
};
export const nameOf = (i: Instruction): string => i.data as string;
