// Steps that several checks take.
export const FILE = "model.py";

/** the source editor to the front, its lenses there */
export async function focus(w, file = FILE) {
  await w.page.keyboard.press("Escape");
  await w.page.locator(".tab", { hasText: file }).first().click();
  await w.until("lenses", async () => (await w.lensTexts(file)).length > 0);
}

export async function closeOthers(w, file = FILE) {
  await w.page.keyboard.press("Escape");
  await w.page.locator(".tab", { hasText: file }).first().click();
  await w.command("View: Close Other Editors in Group");
  await w.command("View: Close Editors in Other Groups");
  await w.until("one editor", async () => (await w.page.locator(".tabs-container .tab").count()) === 1);
  await w.command("Notifications: Clear All Notifications");
}

/** the icons in the gutter of the source, as the images that they are drawn with */
export async function gutterIcons(w, file = FILE) {
  const styles = await w
    .monaco(file)
    .locator(".cgmr, .glyph-margin-widgets .codicon, .margin-view-overlays [class*=ced-]")
    .evaluateAll(es =>
      es.map(e => getComputedStyle(e).backgroundImage + getComputedStyle(e, "::before").backgroundImage),
    );
  return styles.filter(s => s.includes("data:image/svg"));
}

/** a notification whose text matches; it */
export async function notification(w, pattern, timeout = 60_000) {
  const found = w.page.locator(".notification-toast", { hasText: pattern }).first();
  await found.waitFor({ timeout });
  return found;
}

/** the text of the editor that is shown for a document, as far as it is in view */
export async function shownText(w, name) {
  return (await w.monaco(`/${name}`).locator(".view-lines").textContent()).replaceAll("\u00a0", " ");
}

/** types into the quick input in place of what it holds, and accepts */
export async function answer(w, text, title) {
  // what is typed into a box that is about to give way to the next one is lost
  if (title) await w.page.locator(".quick-input-title", { hasText: title }).waitFor();
  const input = w.page.locator(".quick-input-widget:not([style*='display: none']) input").first();
  await input.waitFor();
  await input.fill(text);
  await w.page.keyboard.press("Enter");
}
