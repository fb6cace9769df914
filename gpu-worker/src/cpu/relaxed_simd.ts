// Whether V8 runs relaxed SIMD, and how to have it. In: this process's V8. Out: flags of a process that runs kernels.

/** (func (param v128 v128 v128) (result v128) (f32x4.relaxed_madd ...)) */
const PROBE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 123, 123, 123, 1, 123, 3, 2, 1, 0, 10, 13, 1, 11, 0, 32, 0, 32, 1, 32, 2,
  253, 133, 2, 11,
]);

export const hasRelaxedSimd = (): boolean => WebAssembly.validate(PROBE);

/** V8's baseline compiler runs a long first call of a kernel at a seventh of its speed, and wasm has no OSR */
const WHOLE_SPEED = ["--no-liftoff", "--no-wasm-tier-up"];

/** flags of Node for a process of the same version; versions that have relaxed SIMD do not all know its flag */
export const executorFlags = (): string[] =>
  hasRelaxedSimd() ? WHOLE_SPEED : [...WHOLE_SPEED, "--experimental-wasm-relaxed-simd"];
