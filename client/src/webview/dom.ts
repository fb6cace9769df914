/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
// What the pages share: messages to the extension, elements made of text, numbers in a reader's units.

import { kernelColour, textOn } from "../colours";

interface Host {
  postMessage(message: unknown): void;
}
declare function acquireVsCodeApi(): Host;

const host = acquireVsCodeApi();

export function send(message: unknown): void {
  host.postMessage(message);
}

export function onMessage<T>(receive: (message: T) => void): void {
  window.addEventListener("message", e => receive(e.data as T));
  send({ type: "ready" });
}

export function byId<E extends HTMLElement>(id: string): E {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as E;
}

export interface Attributes {
  readonly class?: string;
  readonly label?: string;
  readonly title?: string;
  readonly role?: string;
  readonly focusable?: boolean;
}

/** an element whose children are elements or text: text never becomes markup */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  if (attributes.class !== undefined) e.className = attributes.class;
  if (attributes.label !== undefined) e.setAttribute("aria-label", attributes.label);
  if (attributes.title !== undefined) e.title = attributes.title;
  if (attributes.role !== undefined) e.setAttribute("role", attributes.role);
  if (attributes.focusable) e.tabIndex = 0;
  e.append(...children);
  return e;
}

/** marks an element as a kernel's; the style sheet takes its fill and the text on it by the theme in force */
export function paint(e: HTMLElement | SVGElement, number: number): void {
  e.classList.add("kernel");
  for (const theme of ["light", "dark"] as const) {
    const fill = kernelColour(number)[theme];
    e.style.setProperty(`--fill-${theme}`, fill);
    e.style.setProperty(`--on-fill-${theme}`, textOn(fill));
  }
}

/** a click, or Enter or Space on the focused element */
export function onActivate(e: HTMLElement, act: () => void): void {
  e.addEventListener("click", act);
  e.addEventListener("keydown", k => {
    if (k.key !== "Enter" && k.key !== " ") return;
    k.preventDefault();
    act();
  });
}

/** arrow keys move the focus between siblings */
export function arrowKeys(parent: HTMLElement): void {
  parent.addEventListener("keydown", k => {
    const step = k.key === "ArrowDown" ? 1 : k.key === "ArrowUp" ? -1 : 0;
    const active = document.activeElement;
    if (!step || !(active instanceof HTMLElement) || active.parentElement !== parent) return;
    let next = step > 0 ? active.nextElementSibling : active.previousElementSibling;
    while (next instanceof HTMLElement && next.tabIndex < 0)
      next = step > 0 ? next.nextElementSibling : next.previousElementSibling;
    if (next instanceof HTMLElement) {
      k.preventDefault();
      next.focus();
    }
  });
}

export function bytes(n: number): string {
  for (const [unit, size] of [
    ["GB", 1e9],
    ["MB", 1e6],
    ["kB", 1e3],
  ] as const)
    if (n >= size) return `${significant(n / size)} ${unit}`;
  return `${n} B`;
}

export function time(us: number): string {
  return us >= 1000 ? `${significant(us / 1000)} ms` : `${significant(us)} us`;
}

export function bandwidth(perSecond: number): string {
  return perSecond >= 1e12 ? `${significant(perSecond / 1e12)} TB/s` : `${significant(perSecond / 1e9)} GB/s`;
}

function significant(x: number): string {
  return x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2);
}
