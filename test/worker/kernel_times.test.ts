// A kernel's time and bytes mean the same on every executor: all launches of its name in one run of the graph.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { toPython } from "../../gpu-worker/src/broker/python_messages";
import { bytesByKernel } from "../../gpu-worker/src/protocol";
import { addOne, benchmarkJob } from "./fixtures";

it("the Python executor sums a kernel's launches", () => {
  const r = spawnSync("python3", [join(__dirname, "kernel_times_test.py")], { encoding: "utf8" });
  expect(r.stderr).toMatch(/Ran 3 tests/);
  expect(r.status).toBe(0);
});

it("the bytes of a kernel are those of all its launches", () => {
  const job = benchmarkJob(addOne(8));
  if (job.kind !== "benchmark") throw new Error("no benchmark");
  const { plan } = job.graph;
  const twice = { ...plan, steps: [...plan.steps, ...plan.steps.filter(s => s.kind === "launch")] };
  const [kernel] = plan.kernels;
  if (!kernel) throw new Error("no kernel");
  expect(kernel.bytes).toBeGreaterThan(0);
  expect(bytesByKernel(twice).get(kernel.name)).toBe(2 * kernel.bytes);
  const told = toPython({ kind: "run", job: { ...job, graph: { ...job.graph, plan: twice } }, payload: [] });
  expect(told).toMatchObject({ kernels: [{ name: kernel.name, bytes: 2 * kernel.bytes }] });
});
