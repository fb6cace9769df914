// The failed tests of a vitest JSON report, one a line with the beginning of its first message; files that could not be run too.
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";

const report = JSON.parse(readFileSync(process.argv[2], "utf8"));
const firstLine = text =>
  stripVTControlCharacters(text ?? "")
    .split("\n", 1)[0]
    .slice(0, 300);

for (const file of report.testResults) {
  const name = relative(process.cwd(), file.name);
  const failed = file.assertionResults.filter(t => t.status === "failed");
  for (const t of failed)
    console.log(`${name} > ${t.fullName} (${Math.round(t.duration ?? 0)} ms): ${firstLine(t.failureMessages[0])}`);
  if (file.status === "failed" && failed.length === 0) console.log(`${name}: ${firstLine(file.message)}`);
}
