// Where a program that imports by a name at run time stands. In: the machine. Out: the file to look from.
import type { Machine } from "./machine";

/** the user's file whose code is running; null: there is none */
export function runningFile(vm: Machine): string | null {
  const frame = vm.frames.findLast(f => f.code.file.library === "user");
  const file = frame?.globals.get("__file__");
  return typeof file === "string" ? file : null;
}
