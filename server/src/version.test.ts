import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { VERSION } from "./version";

it("is that of the packages that bear it", () => {
  for (const folder of ["../..", "../../client"]) {
    const { version } = JSON.parse(readFileSync(join(__dirname, folder, "package.json"), "utf8"));
    expect(version).toBe(VERSION);
  }
});
