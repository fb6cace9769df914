// node test/vscode/picture.mjs: the picture in docs/editors.md, taken anew. Needs what test:vscode installs and packages.
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureVscode } from "./install.mjs";
import { startWorkbench } from "./workbench.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const screenshots = join(root, ".cache", "screenshots");
const w = await startWorkbench({
  programs: ensureVscode(root),
  vsix: join(root, "dist", "fuselens-linux-x64.vsix"),
  screenshots,
  files: () => ({ "model.py": readFileSync(join(root, "client", "walkthrough", "first_kernels.py"), "utf8") }),
  settings: {
    "workbench.colorTheme": "Default Dark Modern",
    "workbench.activityBar.location": "hidden",
    "editor.stickyScroll.enabled": false,
  },
  size: { width: 1600, height: 860 },
});
try {
  await w.quickOpen("model.py");
  await w.until("lenses", async () => (await w.lensTexts("model.py")).length > 0, 60_000);
  await w.command("View: Toggle Primary Side Bar Visibility");
  await w.command("FuseLens: Show Kernel Map");
  const frame = await w.webview("#kernels tbody tr");
  const line = frame.locator("#code .line.tied", { hasText: "tl.sum" }).first();
  await line.scrollIntoViewIfNeeded();
  await line.hover();
  await w.page.waitForTimeout(1500);
  await w.shot("kernel_map_dark");
} finally {
  await w.close();
}
mkdirSync(join(root, "docs", "images"), { recursive: true });
copyFileSync(join(screenshots, "kernel_map_dark.png"), join(root, "docs", "images", "kernel_map.png"));
