// The executor's own kernels, assembled once per process. In: nothing. Out: modules with the names of their functions.
import { assemble } from "../assemble";
import { hasRelaxedSimd } from "../relaxed_simd";
import { copyModule } from "./copy_texts";
import { gemmModule } from "./gemm_texts";
import { hashModule } from "./hash_texts";

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
