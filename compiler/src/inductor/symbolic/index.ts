// The symbolic integers of the compiler: expressions, ranges, simplification, size variables, printers.

export * from "./expr";
export { InternTable, internTable, withInternTable } from "./intern";
