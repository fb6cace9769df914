# Sourced on a GPU machine in a copy of the repository: unpacks Node beside the bundles and defines `fuselens`.
# GPU_DIR: where `npm run gpu:pack` left its folder, if not in .gpu.
set -u
GPU_DIR="${GPU_DIR:-$(pwd)/.gpu}"
if [ ! -x /tmp/fuselens-node/node ]; then
  mkdir -p /tmp/fuselens-node && xz -dc "$GPU_DIR/node.xz" > /tmp/fuselens-node/node && chmod +x /tmp/fuselens-node/node
fi
export PATH="/tmp/fuselens-node:$PATH"
export PYTHONPATH="$GPU_DIR/app/python${PYTHONPATH:+:$PYTHONPATH}"
fuselens() { node "$GPU_DIR/app/cli.cjs" "$@"; }
