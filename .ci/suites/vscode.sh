#!/usr/bin/env bash
# The packaged extension in a real VS Code (code-server and Chromium); screenshots are kept in .cache/screenshots.
cd "$(dirname "$0")/../.."
npm run --silent test:vscode || true
