// A thread of the CPU executor: waits on the control block, takes slices of the launch that is described there.
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { CONTROL, functionsOf, type KernelFunction, type ThreadData, type ThreadModule, takeSlices } from "./threads";

const port = parentPort;
if (!port) throw new Error("thread.ts runs as a worker thread only");
const { memory, control, thread } = workerData as ThreadData;
const c = new Int32Array(control);
const kernels: KernelFunction[] = [];

/** new kernels come as messages; a thread looks for them whenever it wakes */
function loadKernels(): void {
  for (
    let m = receiveMessageOnPort(port as NonNullable<typeof port>);
    m;
    m = receiveMessageOnPort(port as NonNullable<typeof port>)
  ) {
    const modules = m.message as ThreadModule[];
    for (const module of modules) kernels.push(...functionsOf(module, memory));
    Atomics.add(c, CONTROL.loaded, modules.length);
  }
}

let seen = Atomics.load(c, CONTROL.generation);
Atomics.add(c, CONTROL.loaded, 1);
for (;;) {
  // a short wait, so that kernels sent meanwhile are loaded; a launch wakes the thread at once
  if (Atomics.wait(c, CONTROL.generation, seen, 5) === "timed-out") {
    loadKernels();
    continue;
  }
  seen = Atomics.load(c, CONTROL.generation);
  loadKernels();
  try {
    const kernel = kernels[c[CONTROL.kernel] ?? -1];
    if (kernel) takeSlices(c, kernel, thread);
    else Atomics.store(c, CONTROL.failed, 1);
  } catch {
    Atomics.store(c, CONTROL.failed, 1);
    Atomics.store(c, CONTROL.next, c[CONTROL.slices] ?? 0);
  }
  Atomics.sub(c, CONTROL.running, 1);
  Atomics.notify(c, CONTROL.running);
}
