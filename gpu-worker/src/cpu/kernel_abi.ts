// How a CPU kernel is called, for the emitter of its text and for its runner. A module imports env.memory and exports
// `run(buffers..., scratch?, begin, end)`: i32 byte addresses, then the slice [begin, end) of the launch's work items.
// Addresses 0..1023 belong to the runner; a kernel that finds an index out of bounds leaves it there and traps.

const FAULT_ADDRESS = 64;
/** i32: 0 none, 1 index out of bounds */
export const FAULT_CODE = FAULT_ADDRESS;
/** i64: the index, after wrapping negatives */
export const FAULT_INDEX = FAULT_ADDRESS + 8;
/** i64: the size it should be below */
export const FAULT_SIZE = FAULT_ADDRESS + 16;
/** i32: line of the kernel's text */
export const FAULT_LINE = FAULT_ADDRESS + 24;
