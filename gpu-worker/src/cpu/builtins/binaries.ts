// The executor's own kernels as the build assembles them (scripts/builtins_plugin.mjs puts them in this file's place), so
// that a cold worker does not. null where the sources run unbuilt: then they are assembled on first use.

export interface BuiltinBinary {
  /** base64 */
  readonly wasm: string;
  readonly exports: readonly string[];
}

export const BINARIES: Readonly<Record<string, BuiltinBinary>> | null = null;
