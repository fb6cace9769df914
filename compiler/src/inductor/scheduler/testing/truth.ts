// Test only. Where recorded logs lie: FUSELENS_TRUTH, or ../shared/truth beside the checkout; null where there is none.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

export function truthFolder(): string | null {
  const given = process.env.FUSELENS_TRUTH;
  const candidates = given ? [given] : [resolve("../shared/truth"), resolve("../../shared/truth")];
  return candidates.find(c => existsSync(join(c, "recorded", "logs"))) ?? null;
}
