// All of the executor's own kernels by module.
import { copyModule } from "./copy_texts";
import { gemmModule } from "./gemm_texts";
import { hashModule } from "./hash_texts";
import type { BuiltinModule } from "./text";

export const BUILTIN_TEXTS: Readonly<Record<string, () => BuiltinModule>> = {
  hash: hashModule,
  copy: copyModule,
  gemm: () => gemmModule(false),
  gemm_relaxed: () => gemmModule(true),
};
