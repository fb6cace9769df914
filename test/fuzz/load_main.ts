// `npm run load -- [--clients N] [--jobs N] [--kills N] [--seed N]`: prints counts as JSON; exits with 1 on a fault.
import { parseArgs } from "node:util";
import { runAsProgram } from "./entry";
import { load } from "./load";

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2),
    options: {
      clients: { type: "string", default: "8" },
      jobs: { type: "string", default: "2000" },
      kills: { type: "string", default: "200" },
      seed: { type: "string", default: "1" },
      load: { type: "boolean" },
    },
    allowPositionals: true,
  });
  const number = (name: "clients" | "jobs" | "kills" | "seed"): number => Number(values[name]);
  const report = await load({ root: positionals[0] ?? process.cwd(), seed: number("seed"), clients: number("clients"), jobs: number("jobs"), kills: number("kills") }); // biome-ignore format: one record
  console.log(JSON.stringify(report, null, 1));
  return report.faults.length ? 1 : 0;
}

runAsProgram(main);
