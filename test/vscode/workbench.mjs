// code-server with the packaged extension, and a browser on it. What a test does is what a user does: keys, pointer, text.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SETTINGS = {
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "telemetry.telemetryLevel": "off",
  "editor.fontFamily": "DejaVu Sans Mono",
  "editor.fontSize": 13,
  "editor.minimap.enabled": false,
  "editor.hover.delay": 100,
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "chat.commandCenter.enabled": false,
};

/** what makes a folder that was never seen open restricted, without a question */
const UNTRUSTED = { "security.workspace.trust.enabled": true, "security.workspace.trust.startupPrompt": "never" };
const TRUSTED = { "security.workspace.trust.enabled": false };

/** `files`: the project's, from the folder of the run; `extensionFolder`: the unpacked package */
export async function startWorkbench({
  programs,
  vsix,
  files,
  settings = {},
  screenshots,
  extensionFolder,
  trusted = true,
  size = { width: 1440, height: 900 },
}) {
  const home = mkdtempSync(join(tmpdir(), "fuselens-vscode-"));
  const [user, extensions, folder] = ["user", "extensions", "project"].map(n => join(home, n));
  mkdirSync(join(user, "User"), { recursive: true });
  const settingsFile = join(user, "User", "settings.json");
  const all = { ...SETTINGS, ...(trusted ? TRUSTED : UNTRUSTED), ...settings };
  writeFileSync(settingsFile, JSON.stringify(all, null, 1));
  const project = Object.entries(files(home));
  const write = () => {
    for (const [name, text] of project) {
      mkdirSync(join(folder, name, ".."), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
  };
  write();
  const env = { ...process.env, HOME: home };
  const dataFolders = ["--user-data-dir", user, "--extensions-dir", extensions];
  execFileSync(process.execPath, [programs.codeServer, ...dataFolders, "--install-extension", vsix], {
    env,
    stdio: ["ignore", "ignore", 2],
  });
  const port = await freePort();
  const args = [programs.codeServer, "--auth", "none", "--bind-addr", `127.0.0.1:${port}`, ...dataFolders];
  args.push("--disable-telemetry", "--disable-update-check");
  if (trusted) args.push("--disable-workspace-trust");
  args.push(folder);
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "ignore"] });
  await answering(`http://127.0.0.1:${port}/healthz`);
  const { chromium } = createRequire(join(programs.playwright, "package.json"))("playwright-core");
  const browser = await chromium.launch({
    executablePath: programs.chromium,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  const page = await browser.newPage({ viewport: size });
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  page.setDefaultTimeout(60_000);
  await page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(folder)}`);
  await page.waitForSelector(".monaco-workbench", { timeout: 60_000 });
  mkdirSync(screenshots, { recursive: true });
  const machineSettings = join(user, "Machine", "settings.json");
  const places = { restore: write, home, folder, machineSettings, extension: extensionFolder };
  return new Workbench(page, places, screenshots, async () => {
    await browser.close();
    child.kill("SIGTERM");
    await new Promise(resolve => child.once("exit", resolve));
    rmSync(home, { recursive: true, force: true });
  });
}

class Workbench {
  constructor(page, folders, screenshots, close) {
    Object.assign(this, { page, ...folders, screenshots, close, freePort });
  }

  shot(name) {
    return this.page.screenshot({ path: join(this.screenshots, `${name}.png`) });
  }

  /**
   * Opens the quick input by a key, puts a text into it and takes the row that has it. A focus that is on its way to another
   * page closes the input again: then all of it is done anew, and nothing is typed into what has the focus instead.
   */
  async choose(key, text, row) {
    const widget = this.page.locator(".quick-input-widget:not([style*='display: none'])").first();
    const input = widget.locator("input").first();
    let last;
    for (let i = 0; i < 8; i++) {
      try {
        await this.page.keyboard.press(key);
        await input.fill(text, { timeout: 5000 });
        await widget.locator(".monaco-list-row", { hasText: row }).first().waitFor({ timeout: 15_000 });
        await input.press("Enter", { timeout: 5000 });
        return;
      } catch (e) {
        last = e;
        await this.page.keyboard.press("Escape");
      }
    }
    throw new Error(`${key} does not lead to ${row}: ${last?.message.split("\n")[0]}`);
  }

  async quickOpen(name) {
    await this.choose("Control+P", name, name);
    await this.page.locator(".tab.active", { hasText: name }).waitFor();
  }

  /** a command of the palette, by its full title */
  command(title) {
    return this.choose("F1", `>${title}`, title);
  }

  /** an entry of the quick pick that is open */
  async pick(text) {
    const row = this.page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first();
    await row.waitFor();
    await row.click();
  }

  editor(name) {
    return this.page
      .locator(`.editor-instance[aria-label*="${name}"], .editor-instance:has(.monaco-editor[data-uri*="${name}"])`)
      .first();
  }

  monaco(name) {
    return this.page.locator(`.monaco-editor[data-uri*="${name}"]`).first();
  }

  lenses(name) {
    return this.monaco(name).locator(".codelens-decoration a");
  }

  async lensTexts(name) {
    return this.lenses(name).allTextContents();
  }

  /** the text of a line of an editor that holds some text; brings it into view */
  line(name, text) {
    return this.monaco(name).locator(".view-line", { hasText: text }).first();
  }

  /** moves the pointer onto the first occurrence of a word in a line */
  async hover(name, lineText, word = lineText) {
    const line = this.line(name, lineText);
    await line.scrollIntoViewIfNeeded();
    const box = await line.evaluate((node, wanted) => {
      const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
      for (let t = walker.nextNode(); t; t = walker.nextNode()) {
        const at = t.textContent.replaceAll("\u00a0", " ").indexOf(wanted);
        if (at < 0) continue;
        const range = document.createRange();
        range.setStart(t, at);
        range.setEnd(t, at + wanted.length);
        const { x, y, width, height } = range.getBoundingClientRect();
        return { x: x + width / 2, y: y + height / 2 };
      }
      return null;
    }, word);
    if (!box) throw new Error(`no ${word} in the line ${lineText}`);
    await this.page.mouse.move(box.x - 40, box.y - 40);
    await this.page.mouse.move(box.x, box.y, { steps: 4 });
    return box;
  }

  /** the frame of a webview that holds an element */
  async webview(selector, timeout = 60_000) {
    const until = Date.now() + timeout;
    for (;;) {
      for (const frame of this.page.frames()) {
        if (frame === this.page.mainFrame()) continue;
        const found = await frame.$(selector).catch(() => null);
        if (found && (await found.isVisible().catch(() => false))) return frame;
      }
      if (Date.now() > until) throw new Error(`no webview with ${selector}`);
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  }

  /** waits until a question has a true answer; the answer */
  async until(what, ask, timeout = 60_000) {
    const end = Date.now() + timeout;
    let last;
    for (;;) {
      try {
        last = await ask();
        if (last) return last;
      } catch (e) {
        last = e.message;
      }
      if (Date.now() > end) throw new Error(`${what}: not in ${timeout} ms (last: ${JSON.stringify(last)})`);
      await new Promise(resolve => setTimeout(resolve, 50));
    }
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function answering(url) {
  for (let i = 0; i < 1200; i++) {
    if (
      await fetch(url).then(
        r => r.ok,
        () => false,
      )
    )
      return;
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  throw new Error("code-server did not start");
}
