#!/usr/bin/env bash
# Every prefix and 2,000 random mutations of the examples: the compiler answers each.
cd "$(dirname "$0")/../.."
node test/properties/broken_files_all.mjs
