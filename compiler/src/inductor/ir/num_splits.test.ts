import { expect, test } from "vitest";
import { innerSplit, outerSplit } from "./num_splits";
import { DEFAULT_TARGET } from "./target";

const { multiProcessorCount: sms, maxThreadsPerMultiProcessor: threads } = DEFAULT_TARGET;

test("full reductions are cut as often as torch cut them on 132 multiprocessors", () => {
  const cuts = [16777216, 33554432, 8388608, 4194304, 1048576, 65536, 8192].map(n => innerSplit(n, 1, sms, threads));
  expect(cuts).toEqual([512, 512, 1024, 512, 128, 8, 1]);
});

test("row sums are cut while there are fewer rows than two per multiprocessor", () => {
  const cuts = [
    [65536, 32],
    [16384, 64],
    [32768, 256],
    [100352, 64],
    [65536, 264],
  ].map(([r, n]) => innerSplit(r as number, n as number, sms, threads));
  expect(cuts).toEqual([8, 2, 4, 13, 1]);
});

test("column sums are cut into more pieces the fewer columns there are", () => {
  const cuts = [
    [32768, 512],
    [256, 512],
    [8192, 4096],
    [8192, 2048],
    [4096, 1024],
    [2048, 256],
    [1024, 16],
  ].map(([r, n]) => outerSplit(r as number, n as number, sms, threads));
  expect(cuts).toEqual([256, 2, 32, 64, 32, 16, 8]);
});
