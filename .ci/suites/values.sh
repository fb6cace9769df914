#!/usr/bin/env bash
# Every program on the CPU executor: values against eager PyTorch's, fused kernels against unfused ones under each preset.
cd "$(dirname "$0")/../.."
node test/values/run.mjs
