// WebAssembly text to a module, by wabt. Shared memory is refused by wabt's validate() though its assembler takes it,
// so the check is V8's own, when the module is compiled.
import loadWabt from "wabt";
import { compileAtWholeSpeed, hasRelaxedSimd, withoutRelaxedSimd } from "./relaxed_simd";

type Wabt = Awaited<ReturnType<typeof loadWabt>>;
let wabt: Promise<Wabt> | null = null;

const FEATURES = {
  threads: true,
  simd: true,
  bulk_memory: true,
  sat_float_to_int: true,
  mutable_globals: true,
  sign_extension: true,
  multi_value: true,
  relaxed_simd: true,
};

/** Loads the assembler; what it throws, assemble() throws again. */
export async function warmAssembler(): Promise<void> {
  wabt ??= loadWabt();
  await wabt.catch(() => undefined);
}

/** Throws with wabt's message and place if the text is not WebAssembly, with V8's if the module is not valid. */
export async function assemble(text: string): Promise<WebAssembly.Module> {
  wabt ??= loadWabt();
  const parsed = (await wabt).parseWat("kernel.wat", hasRelaxedSimd() ? text : withoutRelaxedSimd(text), FEATURES);
  try {
    const { buffer } = parsed.toBinary({});
    compileAtWholeSpeed(); // from the first kernel on: the assembler has started by now
    // not by compile(): its work would wait for the assembler's own, which V8 compiles anew in the meantime
    return new WebAssembly.Module(buffer as BufferSource);
  } finally {
    parsed.destroy();
  }
}
