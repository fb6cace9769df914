// fuselens doctor [--worker ENDPOINT] [--keys DIR] [--json]: what is there, what is missing, how to mend it.
import { examine, findingsText } from "../doctor";
import { EXIT } from "../exit_status";
import { parseCommand } from "../options";
import { print, printJson } from "../render/output";

export async function main(argv: string[]): Promise<number> {
  const line = parseCommand("doctor", argv);
  const findings = await examine({
    folders: [process.cwd()],
    endpoint: asText(line.values["worker"]),
    keys: asText(line.values["keys"]),
    trusted: true,
  });
  if (line.values.json) printJson(findings);
  else print(findingsText(findings));
  return findings.every(f => f.ok) ? EXIT.fine : EXIT.no;
}

function asText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
