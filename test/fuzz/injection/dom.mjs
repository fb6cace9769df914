// The extension's pages in a DOM without a browser. In: the HTML that a webview is given, its script, messages. Out: the
// page as HTML text after each message. What the page asks of a browser's layout (scrolling, sizes) does nothing here.
import { runInNewContext } from "node:vm";
import { DOMParser, parseHTML } from "linkedom";

/** `receive` gets what the page sends to the extension; an exception of the script leaves `send` */
export function openPage(html, script, receive = () => undefined) {
  const { window, document, Element, HTMLElement, Node } = parseHTML(html);
  const listeners = [];
  Element.prototype.scrollIntoView ??= () => undefined;
  Element.prototype.getBBox ??= () => ({ width: 0 });
  // linkedom knows no selected option; the pages ask for its index
  for (const select of document.querySelectorAll("select")) {
    let selected = -1;
    Object.defineProperty(select, "selectedIndex", {
      get: () => (selected < 0 && select.children.length ? 0 : selected),
      set: i => {
        selected = i;
      },
    });
  }
  const page = {
    addEventListener: (type, listen) => type === "message" && listeners.push(listen),
  };
  runInNewContext(script, {
    window: page,
    document,
    DOMParser,
    Element,
    HTMLElement,
    Node,
    Image: window.Image,
    XMLSerializer: class {
      serializeToString = node => node.toString();
    },
    TextEncoder,
    console,
    acquireVsCodeApi: () => ({ postMessage: receive }),
  });
  return {
    document,
    send(message) {
      for (const listen of listeners) listen({ data: structuredClone(message) });
      return document.toString();
    },
  };
}
