// The symbolic integers of the compiler: expressions, ranges, simplification, size variables, printers.

export { evaluateNumber } from "./evaluate";
export * from "./expr";
export { Facts } from "./facts";
export { failingGuard, type InputGuard, inputGuards, type SourceValue } from "./guards";
export { InternTable, internTable, withInternTable } from "./intern";
export { formatFloat, printFloat, printLog, printSym } from "./print_log";
export { type PythonPrintOptions, printPython } from "./print_python";
export { printTriton, type TritonPrintOptions } from "./print_triton";
export { type Bounds, bounds, type SymbolBounds, UNBOUNDED, type VarRanges } from "./ranges";
export { type CreateSymbolOptions, type Guard, ShapeEnv, type SymbolPolicy, sourceNumber } from "./shape_env";
export * from "./simplify";
export { SizeVars } from "./size_vars";
export { compareSortKey, orderedFactors, orderedTerms } from "./sort_key";
