# usage: bash scripts/gpu/bench_fuselens.sh [ARGUMENTS OF bench_fuselens.py]
# On a GPU machine, in a copy of the repository that `npm run gpu:pack` and `node scripts/gpu/bench_jobs.mjs` have filled.
# Times preset fuselens against torch.compile; rows go to $OUT/fuselens.jsonl (or ./fuselens.jsonl).
set -eu
GPU_DIR="$(pwd)/.gpu"
jobs="$GPU_DIR/inputs/bench"
[ -d "$jobs" ] || { echo "no $jobs: run node scripts/gpu/bench_jobs.mjs first" >&2; exit 2; }
export TRITON_CACHE_DIR="${TRITON_CACHE_DIR:-/tmp/fuselens-triton}" TORCHINDUCTOR_CACHE_DIR="${TORCHINDUCTOR_CACHE_DIR:-/tmp/fuselens-inductor}"
export PYTHONUNBUFFERED=1
python3 scripts/gpu/bench_fuselens.py "$jobs" "${OUT:-.}/fuselens.jsonl" --warm "${WARM:-12}" "$@"
