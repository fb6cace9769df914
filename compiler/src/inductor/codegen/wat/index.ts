// The CPU form of a launch. UnsupportedOnCpu says what there is no code for; the plan then carries that as a blocker.
export { emptyKernel, generateKernel as generateWat, type WatContext } from "./kernel";
export { UnsupportedOnCpu } from "./wat_types";
