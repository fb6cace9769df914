// Parts of the standard library, and attrs, that are simplest said in Python: run by the interpreter itself, on first import.
// Written for what model files use of them. Their frames never show in a stack.
import { ATTRS_LIBRARY } from "./attrs";
import { CONFIGPARSER } from "./configparser";
import { CONTAINERS } from "./containers";
import { DATACLASSES } from "./dataclasses";
import { FUNCTOOLS } from "./functools";
import { PROGRAMS } from "./programs";
import { SIX } from "./six";

export const PRELUDE: Readonly<Record<string, string>> = {
  ...FUNCTOOLS,
  ...DATACLASSES,
  ...CONTAINERS,
  ...PROGRAMS,
  ...ATTRS_LIBRARY,
  ...SIX,
  ...CONFIGPARSER,
};
