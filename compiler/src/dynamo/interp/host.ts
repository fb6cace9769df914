// What the machine is run by, and how a frame's run ends. Types alone.
import type { Span } from "../../python/ast";
import type { Value } from "../objects/values";
import type { PyError } from "./api";

export interface Host {
  readonly stepBudget: number;
  readonly shouldStop: () => boolean;
  print(text: string): void;
  report(code: string, message: string, severity: "error" | "warning" | "information" | "hint", at?: Span): void;
  importModule(name: string, fromFile: string | null): Value;
  /** text files of the project */
  readonly texts?: {
    read(name: string): string | undefined;
    exists(name: string): boolean;
    list(folder: string): string[];
    glob(pattern: string): string[];
    module(name: string, from: string): string | undefined;
    folder(name: string, from: string): string | undefined;
  };
  /** an exception of this program as one of Python's; undefined: not one that Python code should see */
  translate?(e: unknown): PyError | undefined;
}

/** what a frame's run ends with */
export type Completion =
  | { readonly kind: "return"; readonly value: Value }
  | { readonly kind: "yield"; readonly value: Value };
