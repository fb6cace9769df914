// The executor's own kernels, assembled once per process. In: nothing. Out: modules with the names of their functions.
import { assemble } from "../assemble";
import { copyModule } from "./copy_texts";
import { gemmModule } from "./gemm_texts";
import { hashModule } from "./hash_texts";

/** (func (param v128 v128 v128) (result v128) (f32x4.relaxed_madd ...)) */
const RELAXED_PROBE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 123, 123, 123, 1, 123, 3, 2, 1, 0, 10, 13, 1, 11, 0, 32, 0, 32, 1, 32, 2,
  253, 133, 2, 11,
]);

/** whether V8 has relaxed SIMD: behind --experimental-wasm-relaxed-simd in older versions */
export const hasRelaxedSimd = (): boolean => WebAssembly.validate(RELAXED_PROBE);

export interface LoadedModule {
  readonly module: WebAssembly.Module;
  readonly exports: readonly string[];
}

let builtins: Promise<LoadedModule[]> | null = null;

export function loadBuiltins(): Promise<LoadedModule[]> {
  builtins ??= Promise.all(
    [hashModule(), copyModule(), gemmModule(hasRelaxedSimd())].map(async b => ({
      module: await assemble(b.text),
      exports: b.exports,
    })),
  );
  return builtins;
}
