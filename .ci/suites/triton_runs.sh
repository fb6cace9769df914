#!/usr/bin/env bash
# Templates' kernels in Triton's interpreter against NumPy, and the executor's compile server and kernel cache; no GPU.
cd "$(dirname "$0")/../.."
if ! python3 -m venv --help >/dev/null 2>&1; then apt-get update -qq && apt-get install -y -qq python3-venv; fi
mkdir -p .cache
passed=0 failed=0
npm run --silent test:templates 2>&1 | tee .cache/templates.log
if [[ "$(tail -n 1 .cache/templates.log)" =~ ^([0-9]+)\ graphs\ run,\ ([0-9]+)\ wrong ]]; then
  passed=$((passed + BASH_REMATCH[1] - BASH_REMATCH[2])) failed=$((failed + BASH_REMATCH[2]))
else
  failed=$((failed + 1))
fi
npm run --silent test:compilers 2>&1 | tee .cache/compilers.log
ran=$(sed -n 's/^Ran \([0-9]*\) tests.*/\1/p' .cache/compilers.log)
if [ -n "$ran" ] && [ "$(tail -n 1 .cache/compilers.log)" = OK ]; then passed=$((passed + ran)); else failed=$((failed + 1)); fi
echo "$passed passed, $failed failed"
