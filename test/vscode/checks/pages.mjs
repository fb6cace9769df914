// The pages: kernel map, scheduler graph, walkthrough; by pointer, by keyboard, and what their policy forbids.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { answer, closeOthers, FILE, focus } from "../steps.mjs";

const activeTab = w =>
  w.page
    .locator(".tab.active")
    .allTextContents()
    .then(t => t.join(" "));

const cursor = w =>
  w.page
    .locator(".statusbar-item", { hasText: /Ln \d+/ })
    .first()
    .textContent();

async function openMap(w) {
  await focus(w);
  await w.command("FuseLens: Show Kernel Map");
  const frame = await w.webview("#kernels tbody tr");
  await frame.waitForSelector("#code .line.tied");
  return frame;
}

async function openGraph(w) {
  await focus(w);
  await w.command("FuseLens: Show Scheduler Graph");
  const frame = await w.webview("#drawing");
  await frame.waitForSelector("#drawing svg .node", { timeout: 30_000 });
  return frame;
}

/** saves what a button offers, under the name that is proposed, in the project folder; its bytes */
async function exported(w, frame, kind) {
  const name = `forward_as_launched.${kind}`;
  const path = join(w.folder, name);
  await frame.locator(`#${kind}`).click();
  const input = w.page.locator(".quick-input-widget:not([style*='display: none']) input").first();
  await w.until("the proposed name", async () => (await input.inputValue()).endsWith(name));
  await w.page.keyboard.press("Enter");
  await w.until(`${name} on disk`, async () => existsSync(path) && readFileSync(path).length > 0);
  return readFileSync(path);
}

export const PAGES = [
  [
    "the kernel map lights both ways and goes where it is clicked",
    async w => {
      const frame = await openMap(w);
      // source → code
      await w.hover(FILE, "x.t().contiguous()", "contiguous");
      await w.until("lit code", async () => (await frame.locator("#code .line.lit").count()) > 0);
      await w.page.keyboard.press("Escape");
      // code → source
      const line = frame.locator("#code .line.tied", { hasText: "tl.load" }).first();
      await line.scrollIntoViewIfNeeded();
      await line.hover();
      await w.until("lit source", async () => {
        const colours = await w
          .monaco(FILE)
          .locator(".view-overlays .cdr")
          .evaluateAll(es => es.map(e => getComputedStyle(e).backgroundColor));
        return colours.some(c => c !== "rgba(0, 0, 0, 0)");
      });
      await w.shot("kernel_map");
      await frame.locator("#kernels tbody tr").last().click();
      await w.until("the last kernel's line", async () => /Ln 29,/.test(await cursor(w)));
      await closeOthers(w);
    },
  ],
  [
    "the kernel map lists bytes, times, shares and bars, none of them out of sight",
    async w => {
      const frame = await openMap(w);
      const rows = await frame.locator("#kernels tbody tr").allTextContents();
      if (rows.length !== 7) throw new Error(`${rows.length} rows`);
      for (const r of rows) if (!/[\d.]+ (k|M)B[\d.]+ us.*\d+%\d+%$/.test(r)) throw new Error(`a row says ${r}`);
      const shares = await frame.locator("#kernels tbody tr td:nth-child(7)").allTextContents();
      const sum = shares.reduce((n, s) => n + parseInt(s, 10), 0);
      if (Math.abs(sum - 100) > shares.length) throw new Error(`shares sum up to ${sum}%`);
      const clipped = await frame.evaluate(() => {
        const region = document.querySelector("#kernels");
        return region.scrollWidth > region.clientWidth;
      });
      if (clipped) throw new Error("the table is wider than half a window");
      await closeOthers(w);
    },
  ],
  [
    "the kernel map scrolls along with the source",
    async w => {
      const frame = await openMap(w);
      await frame.locator("#code").evaluate(e => {
        e.scrollTop = 0;
      });
      // a low window, so that the source scrolls
      await w.page.setViewportSize({ width: 1440, height: 420 });
      try {
        await w.line(FILE, "super()").hover();
        for (let i = 0; i < 6; i++) await w.page.mouse.wheel(0, 200);
        await w.until(
          "the code to have moved",
          async () => (await frame.locator("#code").evaluate(e => e.scrollTop)) > 0,
        );
      } finally {
        await w.page.setViewportSize({ width: 1440, height: 900 });
      }
      await closeOthers(w);
    },
  ],
  [
    "the kernel map opens and moves by keyboard alone",
    async w => {
      await focus(w);
      await w.line(FILE, "x.sum(dim=0)").click();
      await w.page.keyboard.press("Control+Alt+F");
      await w.page.keyboard.press("m");
      const frame = await w.webview("#kernels tbody tr");
      await frame.locator("#kernels tbody tr").first().focus();
      await w.page.keyboard.press("ArrowDown");
      const label = await frame.evaluate(() => document.activeElement?.getAttribute("aria-label"));
      if (!/^kernel 2, /.test(label ?? "")) throw new Error(`the focus is on ${label}`);
      await w.page.keyboard.press("Enter");
      await w.until("its line", async () => /Ln 16,/.test(await cursor(w)));
      await closeOthers(w);
    },
  ],
  [
    "pages run nothing but their own script",
    async w => {
      const frame = await openMap(w);
      const found = await frame.evaluate(async () => {
        const policy = document.querySelector("meta[http-equiv=Content-Security-Policy]")?.content ?? "";
        const script = document.createElement("script");
        script.textContent = "window.broken = true";
        document.body.append(script);
        const fetched = await fetch("https://127.0.0.1:9/").then(
          () => "fetched",
          () => "refused",
        );
        const unnamed = [...document.querySelectorAll("button, input, select, [tabindex]")].filter(
          e => !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length),
        );
        return { policy, broken: window.broken === true, fetched, unnamed: unnamed.length };
      });
      if (!/default-src 'none'/.test(found.policy) || /unsafe/.test(found.policy)) throw new Error(found.policy);
      if (found.broken || found.fetched !== "refused") throw new Error(JSON.stringify(found));
      if (found.unnamed) throw new Error(`${found.unnamed} elements have no name for a screen reader`);
      await closeOthers(w);
    },
  ],
  [
    "the graph view draws every round, with the kernels named, and goes to the source",
    async w => {
      const frame = await openGraph(w);
      const after = await frame.locator("#drawing .cluster").count();
      const text = await frame.locator("#drawing svg").textContent();
      for (const n of [1, 2, 3, 4]) if (!text.includes(`kernel ${n}: `)) throw new Error(`kernel ${n} has no name`);
      await w.shot("graph");
      await frame.locator("#round").fill("0");
      await w.until("before fusion", async () => /before fusion/.test(await frame.locator("#state").textContent()));
      await w.until("no clusters", async () => (await frame.locator("#drawing .cluster").count()) === 0);
      await frame.locator("#drawing .node").first().click();
      await w.until("the source in front", async () => activeTab(w).then(t => t.includes(FILE)));
      await closeOthers(w);
      return `${after} groups`;
    },
  ],
  [
    "the graph view is walked by keyboard and named for screen readers",
    async w => {
      const frame = await openGraph(w);
      const label = await frame.locator("#drawing .node").first().getAttribute("aria-label");
      if (!/op\d.*go to line \d+/.test(label ?? "")) throw new Error(`a node is named ${label}`);
      await frame.locator("#drawing .node").first().focus();
      await w.page.keyboard.press("Enter");
      await w.until("its line", async () => /Ln 15,/.test(await cursor(w)));
      await closeOthers(w);
    },
  ],
  [
    "the graph is saved as SVG, PNG and DOT",
    async w => {
      const frame = await openGraph(w);
      const svg = (await exported(w, frame, "svg")).toString("utf8");
      if (!/^<\?xml[^>]*>\s*<svg[\s\S]*kernel 1: [\s\S]*<\/svg>\s*$/.test(svg)) throw new Error(svg.slice(0, 200));
      const png = await exported(w, frame, "png");
      if (png.subarray(1, 4).toString("latin1") !== "PNG") throw new Error("no PNG file");
      const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
      if (width < 200 || height < 200) throw new Error(`the picture has ${width} x ${height} pixels`);
      const dot = (await exported(w, frame, "dot")).toString("utf8");
      if (!dot.startsWith("digraph")) throw new Error(dot.slice(0, 80));
      await closeOthers(w);
      return `PNG of ${width} x ${height}`;
    },
  ],
  [
    "pages follow a dark theme",
    async w => {
      await w.command("Preferences: Toggle between Light/Dark Themes");
      const ink = (frame, selector) =>
        frame
          .locator(selector)
          .first()
          .evaluate(e => getComputedStyle(e).fill);
      const frame = await openGraph(w);
      const [text, box] = [await ink(frame, "#drawing .node text"), await ink(frame, "#drawing .node path")];
      const light = c =>
        c
          .match(/\d+/g)
          .slice(0, 3)
          .reduce((n, x) => n + Number(x), 0);
      await w.shot("graph_dark");
      await closeOthers(w);
      const map = await openMap(w);
      await w.hover(FILE, "x.t().contiguous()", "contiguous");
      await w.until("lit code", async () => (await map.locator("#code .line.lit").count()) > 0);
      await w.shot("kernel_map_dark");
      await closeOthers(w);
      await w.command("Preferences: Toggle between Light/Dark Themes");
      if (light(text) < light(box)) throw new Error(`${text} on ${box}`);
    },
  ],
  [
    "the walkthrough leads from the example to one's own model",
    async w => {
      await w.command("Welcome: Open Walkthrough...");
      await answer(w, "See your GPU kernels");
      const step = title => w.page.locator(".getting-started-step", { hasText: title }).first();
      // each step and the page beside it
      for (const [title, heading] of [
        ["Hover a line", "Hover a line"],
        ["Source and kernels together", "Kernel map"],
        ["Measure it", "Measure it"],
        ["Open your own model", "Your own model"],
        ["Open an example", "Open an example"],
      ]) {
        await step(title).click();
        await w.webview(`h2:has-text('${heading}')`);
        if (title === "Hover a line") await w.shot("walkthrough");
      }
      await w.page.getByText("Open the example", { exact: true }).last().click();
      await w.page.locator(".tab.active", { hasText: "first_kernels.py" }).waitFor();
      await w.until("its lens", async () => (await w.lensTexts("first_kernels.py")).length > 0, 40_000);
      await closeOthers(w);
    },
  ],
];
