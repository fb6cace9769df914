#!/usr/bin/env bash
# Every generated kernel compiles with stock Triton for sm_90; no GPU.
cd "$(dirname "$0")/../.."
if ! python3 -m venv --help >/dev/null 2>&1; then apt-get update -qq && apt-get install -y -qq python3-venv; fi
mkdir -p .cache
npm run --silent test:triton 2>&1 | tee .cache/triton.log
if [[ "$(tail -n 1 .cache/triton.log)" =~ ^([0-9]+)\ kernels\ of\ [0-9]+\ graphs\ compiled,\ ([0-9]+)\ failed ]]; then
  echo "$((BASH_REMATCH[1])) passed, $((BASH_REMATCH[2])) failed"
else
  echo "0 passed, 1 failed"
fi
