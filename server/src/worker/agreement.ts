// When a fused graph's output agrees with the unfused one's.
import type { VerifiedPair } from "@fuselens/gpu-worker/protocol";

type VerifiedOutput = VerifiedPair["outputs"][number];

/** largest error, absolute or relative to the output's mean magnitude: halves round once more unfused; others are exact */
const ALLOWED: Readonly<Record<string, number>> = { float64: 1e-10, float32: 1e-3, float16: 5e-2, bfloat16: 3e-1 };

/** What an output of this dtype may be off; 0: nothing. */
export function toleranceOf(dtype: string): number {
  return ALLOWED[dtype] ?? (dtype.startsWith("float8") ? 1 : 0);
}

/** Whether the output's error, absolute or relative, is one that its dtype may have. */
export function agrees(output: VerifiedOutput): boolean {
  const allowed = toleranceOf(output.dtype);
  return output.maxAbs <= allowed || output.maxRel <= allowed;
}
