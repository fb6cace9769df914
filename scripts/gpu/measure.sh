# usage: bash scripts/gpu/measure.sh STAGE...      on a GPU machine, in a copy of the checkout (or of .gpu and scripts/gpu)
# Stages, in the order given; rows go to $OUT (default: here):
#   jobs    every graph of .gpu/inputs/jobs against eager PyTorch            -> rows.jsonl
#   bench   preset fuselens against torch.compile, predictions, repeats      -> fuselens.jsonl
#   float64 graphs that sum by atomic adds, several times, against float64  -> float64.jsonl
#   first   seconds to the first result of .gpu/inputs/first, kernels compiled in parallel or not -> first.jsonl
#   faults  faulty jobs through a worker over ZeroMQ                         -> faults.txt
#   lens    `fuselens bench FILE --against eager,compile` through a worker, and output code that runs by itself -> lens.txt
set -u
scripts="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
gpu="$(pwd)/.gpu"
out="${OUT:-.}"
export TRITON_CACHE_DIR="${TRITON_CACHE_DIR:-/tmp/fuselens-triton}" TORCHINDUCTOR_CACHE_DIR="${TORCHINDUCTOR_CACHE_DIR:-/tmp/fuselens-inductor}"
export TORCHINDUCTOR_COMPILE_THREADS="${TORCHINDUCTOR_COMPILE_THREADS:-1}" PYTHONUNBUFFERED=1
. "$scripts/setup.sh"

lens() {
  socket="ipc:///tmp/fuselens-lens-$$.sock"
  node "$gpu/app/worker.cjs" --bind "$socket" --no-cache --python python3 >/dev/null &
  worker=$!
  for file in "$gpu"/inputs/lens/*.py; do
    echo "fuselens bench $(basename "$file") --against eager,compile"
    fuselens bench "$file" --worker "$socket" --against eager,compile --preset fuselens --target h200
  done
  kill "$worker"
  for job in "$gpu"/inputs/bench/headline.*.json; do
    code="/tmp/fuselens-output-code-$$.py"
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["fuselens"]["code"])' "$job" >"$code"
    echo "python output_code.py ($(basename "$job" .json))"
    python3 "$code"
  done
}

for stage in "$@"; do
  begin=$(date +%s)
  case "$stage" in
    jobs) python3 "$scripts/run_jobs.py" "$gpu/inputs/jobs" "$out/rows.jsonl" --processes "${PROCESSES:-14}" ;;
    bench) python3 "$scripts/bench_fuselens.py" "$gpu/inputs/bench" "$out/fuselens.jsonl" --warm "${PROCESSES:-14}" --seconds "${SECONDS_EACH:-0.1}" | grep -v '^{' ;;
    float64) python3 "$scripts/against_float64.py" "$gpu"/inputs/jobs/train_embedding_bag_mean.*.json | tee "$out/float64.jsonl" ;;
    first) python3 "$scripts/first_result.py" "$gpu/inputs/first" "$gpu/app/python" | tee "$out/first.jsonl" ;;
    faults) node "$gpu/app/faults.cjs" "$gpu/app/worker.cjs" python3 2>&1 | tee "$out/faults.txt" ;;
    lens) lens 2>&1 | tee "$out/lens.txt" ;;
    *) echo "no such stage: $stage" >&2; exit 2 ;;
  esac
  echo "[$stage: $(($(date +%s) - begin)) s]"
done
