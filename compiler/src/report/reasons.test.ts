import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { reasonsPage } from "./reasons";

const page = fileURLToPath(new URL("../../../docs/reasons.md", import.meta.url));

it("docs/reasons.md is what the table says (write it anew with FUSELENS_WRITE_DOCS=1)", () => {
  if (process.env.FUSELENS_WRITE_DOCS) writeFileSync(page, reasonsPage());
  expect(readFileSync(page, "utf8")).toBe(reasonsPage());
});
