// An untrusted workspace: analysis works, no worker does, and what the workspace's settings name is not used.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { FILE, focus, notification } from "../steps.mjs";

/** what a hostile folder would bring along */
export function untrustedFiles(source, home) {
  return {
    [FILE]: source,
    ".vscode/settings.json": JSON.stringify({
      "fuselens.server.path": join(home, "project", "evil.cjs"),
      "fuselens.worker.endpoint": "tcp://127.0.0.1:9",
      "fuselens.worker.keys": join(home, "project"),
    }),
    // tells by a file that it was run
    "evil.cjs": `require("node:fs").writeFileSync(${JSON.stringify(join(home, "ran"))}, "");`,
  };
}

export const TRUST = [
  [
    "an untrusted workspace is analysed",
    async w => {
      await w.quickOpen(FILE);
      await w.page.locator(".statusbar-item", { hasText: "Restricted Mode" }).first().waitFor();
      await w.until("a lens", async () => (await w.lensTexts(FILE)).some(t => /^\d+ kernels?/.test(t)), 60_000);
      await w.shot("untrusted");
    },
  ],
  [
    "an untrusted workspace measures nothing and chooses no worker",
    async w => {
      await focus(w);
      await w.lenses(FILE).filter({ hasText: "Benchmark" }).first().click();
      await notification(w, /not trusted/);
      await w.command("Notifications: Clear All Notifications");
      await w.command("FuseLens: Select Worker");
      await notification(w, /not trusted: analysis works, workers do not/);
      await w.command("Notifications: Clear All Notifications");
      await w.command("FuseLens: Pair Remote Worker");
      await notification(w, /not trusted/);
    },
  ],
  [
    "an untrusted workspace's own server, endpoint and keys are not used",
    async w => {
      if (existsSync(join(w.home, "ran"))) throw new Error("a program of the workspace was run");
    },
  ],
  [
    "a workspace that is trusted measures, on the user's worker and with the user's server",
    async w => {
      await w.page.keyboard.press("Escape");
      await w.command("Workspaces: Manage Workspace Trust");
      await w.page
        .locator(".workspace-trust-editor .monaco-button", { hasText: /^Trust/ })
        .first()
        .click();
      await w.page.locator(".statusbar-item", { hasText: "Restricted Mode" }).first().waitFor({ state: "detached" });
      await focus(w);
      await w.until("a lens", async () => (await w.lensTexts(FILE)).some(t => /^\d+ kernels?/.test(t)), 60_000);
      await w.lenses(FILE).filter({ hasText: "Benchmark" }).last().click();
      await w.until("measured lens", async () => (await w.lensTexts(FILE)).some(t => /cpu/.test(t)), 90_000);
      if (existsSync(join(w.home, "ran"))) throw new Error("a program of the workspace was run");
    },
  ],
];
