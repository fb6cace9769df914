import { defineConfig } from "vitest/config";

// Unit tests sit beside their source; tests that cross packages live in test/. Heavy suites (triton, vscode, neovim)
// have npm scripts of their own and are named *.suite.ts, so this pattern never picks them up.
export default defineConfig({
  test: {
    include: ["*/src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**", "**/out/**"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 30_000 } }, // a bound on what never comes, not on how soon it does
    pool: "forks",
  },
});
