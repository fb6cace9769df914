// The executor's own kernels, compiled once per process. In: nothing. Out: modules with the names of their functions.
import { assemble } from "../assemble";
import { hasRelaxedSimd } from "../relaxed_simd";
import { BINARIES } from "./binaries";
import { BUILTIN_TEXTS } from "./texts";

export interface LoadedModule {
  readonly module: WebAssembly.Module;
  readonly exports: readonly string[];
}

/** what every job fills and sums tensors with */
export const BASE_BUILTINS = ["hash"] as const;
/** what extern kernels are made of */
export const EXTERN_BUILTINS = ["copy", "gemm"] as const;
/** what copies between tensors of any strides */
export const COPY_BUILTINS = ["copy"] as const;

const loading = new Map<string, Promise<LoadedModule>>();

/** the modules of these names, each compiled once */
export function loadBuiltins(names: readonly string[]): Promise<LoadedModule[]> {
  return Promise.all(
    names.map(name => {
      const known = loading.get(name) ?? loadModule(name === "gemm" && hasRelaxedSimd() ? "gemm_relaxed" : name);
      loading.set(name, known);
      return known;
    }),
  );
}

async function loadModule(name: string): Promise<LoadedModule> {
  const binary = BINARIES?.[name];
  if (binary) {
    const bytes = Buffer.from(binary.wasm, "base64");
    return { module: await WebAssembly.compile(bytes), exports: binary.exports };
  }
  const made = BUILTIN_TEXTS[name]?.();
  if (!made) throw new Error(`no built-in module ${name}`);
  return { module: await assemble(made.text), exports: made.exports };
}
