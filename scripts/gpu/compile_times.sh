# usage: bash scripts/gpu/compile_times.sh [ARGUMENTS OF compile_times.py]
# On a GPU machine, in a copy of the repository that `npm run gpu:pack` has filled: torch.compile and FuseLens compile the
# same files, in one run. JSON goes to standard output and to $OUT/compile_times.json (or ./compile_times.json).
. scripts/gpu/setup.sh
export PYTHONUNBUFFERED=1
python3 scripts/gpu/compile_times.py "$GPU_DIR" --out "${OUT:-.}/compile_times.json" "$@"
