#!/usr/bin/env bash
# Five minutes of fuzzing with a seed that is the same in every run; each kind of input counts as one check, and each fault
# that was put in on purpose as one: it must be found.
cd "$(dirname "$0")/../.."
report=$(node test/fuzz/run.mjs --seconds 300 --seed 1)
planted=$(node test/fuzz/run.mjs --seconds 240 --cases 12 --seed 1 --only python,injection --trials 2 --planted 2>/dev/null)
node -e '
  const [report, planted] = process.argv.slice(1).map(t => { try { return JSON.parse(t); } catch { return null; } });
  const failed = new Set(report ? report.findings.map(f => `fuzzing: ${f.mode}`) : ["fuzzing: none ran"]);
  const checks = new Set([...(report ? Object.keys(report.modes).map(m => `fuzzing: ${m}`) : []), ...failed]);
  const found = new Set(planted ? planted.findings.map(f => f.kind) : []);
  for (const kind of ["internal", "malformed-markdown", "malformed-html", "malformed-terminal"]) {
    const check = `planted fault: ${kind}`;
    checks.add(check);
    if (!found.has(kind)) failed.add(check);
  }
  console.log(JSON.stringify(report && report.modes));
  for (const check of checks) console.log(`${failed.has(check) ? "not ok" : "ok"} ${check}`);
  console.log(`${checks.size - failed.size} passed, ${failed.size} failed`);
' "$report" "$planted"
