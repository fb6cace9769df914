// What measures: the embedded worker, benchmarks with progress and cancel, other workers, a remote one with keys.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { answer, closeOthers, FILE, focus, notification } from "../steps.mjs";

const statusText = w =>
  w.page
    .locator(".statusbar-item", { hasText: /kernel/ })
    .first()
    .textContent();

export const WORKERS = [
  [
    "Select Worker refuses an endpoint where nothing listens, and keeps the one before",
    async w => {
      await focus(w);
      await w.command("FuseLens: Select Worker");
      await w.page.locator(".quick-input-title", { hasText: "Worker that measures" }).waitFor();
      await w.shot("select_worker");
      await answer(w, "Another endpoint");
      await answer(w, "nonsense");
      await w.page.locator(".quick-input-message", { hasText: "ipc://PATH or tcp://HOST:PORT" }).waitFor();
      await answer(w, `ipc://${join(w.home, "nobody.sock")}`);
      await notification(w, /FuseLens: no worker answers at ipc:/, 60_000);
      await w.shot("no_worker");
      await w.command("FuseLens: Select Worker");
      await answer(w, "Embedded CPU worker");
      await notification(w, /measures on cpu/i, 60_000);
      await closeOthers(w);
    },
  ],
  [
    "a benchmark runs on the CPU worker and shows in the lens, the panel and the status item",
    async w => {
      await focus(w);
      const lens = w.lenses(FILE).filter({ hasText: "Benchmark" }).last();
      await lens.click();
      await w.until("measured lens", async () => (await w.lensTexts(FILE)).some(t => /cpu/.test(t)), 90_000);
      await w.until("the worker's name", async () => /cpu/.test(await statusText(w)));
      await w.command("FuseLens: Show Benchmarks");
      const frame = await w.webview("#runs");
      await frame.waitForSelector("#runs tbody tr");
      await w.shot("benchmarks");
      const clipped = await frame.evaluate(() => {
        const region = document.querySelector("#runs");
        return region.scrollWidth > region.clientWidth;
      });
      if (clipped) throw new Error("the table is wider than half a window");
      await closeOthers(w);
    },
  ],
  [
    "runs are copied as Markdown",
    async w => {
      await focus(w);
      await w.command("FuseLens: Show Benchmarks");
      const frame = await w.webview("#runs tbody tr");
      await frame.locator("#copy").click();
      await notification(w, /copied as Markdown/);
      const text = await w.page.evaluate(() => navigator.clipboard.readText());
      const [head, rule, first] = text.split("\n");
      for (const word of ["median", "eager", "torch.compile", "max error"])
        if (!head.includes(word)) throw new Error(`no ${word} in ${head}`);
      if (!/^\|(---\|)+$/.test(rule) || !first.includes("sum\\_and\\_transpose")) throw new Error(text);
      await closeOthers(w);
    },
  ],
  [
    "a benchmark tells its progress and is cancelled",
    async w => {
      await focus(w);
      await w.command("FuseLens: Show Benchmarks");
      const frame = await w.webview("#runs tbody tr");
      const before = await frame.locator("#runs tbody tr").count();
      await frame.locator("#run").click();
      await w.until("progress", async () => (await frame.locator("#progress").textContent()) !== "");
      await w.shot("progress");
      await frame.locator("#cancel").click();
      await notification(w, /benchmark cancelled/, 40_000);
      await w.until("an end", async () => frame.locator("#running").evaluate(e => e.hidden));
      const after = await frame.locator("#runs tbody tr").count();
      if (after !== before) throw new Error(`${after - before} runs are kept of a cancelled benchmark`);
      await closeOthers(w);
    },
  ],
  [
    "Pair Remote Worker connects with keys and measures there",
    async w => {
      const keys = join(w.home, "keys");
      const cli = join(w.extension, "dist", "server", "cli.cjs");
      const run = args => spawn(process.execPath, [cli, "worker", ...args], { stdio: ["ignore", "pipe", "pipe"] });
      const paired = run(["pair", "--keys", keys, "--name", "laptop"]);
      const status = await new Promise(resolve => paired.once("exit", resolve));
      if (status !== 0) throw new Error(`'worker pair' ends with ${status}`);
      const folder = join(keys, "pairs", "laptop");
      const endpoint = `tcp://127.0.0.1:${await w.freePort()}`;
      const worker = run(["--bind", endpoint, "--keys", keys]);
      try {
        await focus(w);
        for (let tries = 1; !(await chooseKeys(w, folder)); tries++)
          if (tries === 3) throw new Error("the dialog of folders closes without the next question");
        await answer(w, endpoint);
        await notification(w, /measures on cpu/i, 60_000);
        // a setting of the machine that the files are on, not of the user wherever they are
        await w.until(
          "the setting",
          async () => JSON.parse(readFileSync(w.machineSettings, "utf8"))["fuselens.worker.endpoint"] === endpoint,
        );
        await w.command("FuseLens: Select Worker");
        await answer(w, "Embedded CPU worker");
        await notification(w, /measures on cpu/i, 60_000);
      } finally {
        worker.kill("SIGTERM");
      }
      await closeOthers(w);
    },
  ],
];

/**
 * Pairs up to the question for the endpoint, with the keys of `folder`; false where the dialog of folders has closed without
 * that question: it looks a folder up while one types, and may have taken another one than was typed.
 */
async function chooseKeys(w, folder) {
  await w.command("FuseLens: Pair Remote Worker");
  await w.page.locator(".monaco-dialog-box", { hasText: "fuselens worker pair" }).waitFor();
  await w.shot("pair");
  await w.page.locator(".monaco-dialog-box .monaco-button", { hasText: "Choose the key folder" }).click();
  await w.page.locator(".quick-input-title", { hasText: "Folder with client.key" }).waitFor();
  const widget = ".quick-input-widget:not([style*='display: none'])";
  const field = w.page.locator(`${widget} input`).first();
  const typed = async () => (await field.inputValue({ timeout: 1000 }).catch(() => "")).replace(/\/$/, "");
  // the dialog writes the folder that it begins with once it has looked there, over what was typed before
  await w.until("the dialog's own folder", async () => (await typed()) !== "");
  const next = w.page.locator(".quick-input-title", { hasText: "Endpoint of the remote worker" });
  const asked = () =>
    next.waitFor({ timeout: 5000 }).then(
      () => true,
      () => false,
    );
  const take = w.page.locator(`${widget} .monaco-button`, { hasText: "Use these keys" }).first();
  await answer(w, folder);
  // Enter may only go into the folder; the button takes it
  for (let turns = 0; turns < 6; turns++) {
    if (await asked()) return true;
    if (!(await take.isVisible())) return asked();
    // the dialog may have put its own folder before what was typed
    if ((await typed()) !== folder) await answer(w, folder);
    else await take.click({ timeout: 1000 }).catch(() => undefined);
  }
  return asked();
}
