#!/usr/bin/env bash
# Five minutes of fuzzing with a seed that is the same in every run; each kind of input counts as one check, as does the
# search for faults that were put in on purpose, which must be found.
cd "$(dirname "$0")/../.."
report=$(node test/fuzz/run.mjs --seconds 270 --seed 1)
planted=$(node test/fuzz/run.mjs --seconds 30 --seed 1 --only python,injection --trials 20 --planted 2>/dev/null)
node -e '
  const [report, planted] = process.argv.slice(1).map(t => { try { return JSON.parse(t); } catch { return null; } });
  const failed = new Set(report ? report.findings.map(f => f.mode) : ["none ran"]);
  const modes = report ? Object.keys(report.modes) : [];
  const found = planted !== null && planted.findings.length > 0;
  if (!found) { failed.add("planted"); console.log("the planted faults were not found"); }
  console.log(JSON.stringify(report && report.modes));
  console.log(`${modes.filter(m => !failed.has(m)).length + (found ? 1 : 0)} passed, ${failed.size} failed`);
' "$report" "$planted"
