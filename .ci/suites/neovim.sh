#!/usr/bin/env bash
# The language server in a real editor that is not VS Code: headless Neovim.
cd "$(dirname "$0")/../.."
npm run --silent test:neovim || true
