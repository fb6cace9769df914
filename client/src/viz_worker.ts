// Graphviz (compiled to WebAssembly) in a thread. In: {id, dot}. Out: {id, svg} or {id, error}.
import { parentPort } from "node:worker_threads";
import { instance } from "@viz-js/viz";

let viz = instance();
parentPort?.on("message", async ({ id, dot }: { id: number; dot: string }) => {
  try {
    parentPort?.postMessage({ id, svg: (await viz).renderString(dot, { format: "svg", engine: "dot" }) });
  } catch (e) {
    // one that trapped has a broken memory: the next drawing gets another
    if (e instanceof WebAssembly.RuntimeError) viz = instance();
    parentPort?.postMessage({ id, error: e instanceof Error ? e.message : String(e) });
  }
});
