import { expect, test } from "vitest";
import { type Expr, int, intValue } from "../symbolic/expr";
import { SizeVars } from "../symbolic/size_vars";
import {
  channelsLastStrides,
  fillOrderOf,
  isContiguous,
  isStrideOrdered,
  padStrides,
  strideOrdered,
  strideOrderOf,
} from "./layouts";

const es = (...ns: number[]): Expr[] => ns.map(int);
const ns = (xs: readonly Expr[]): (number | undefined)[] => xs.map(x => intValue(x));
const sizevars = new SizeVars();
const padding = { enabled: true, alignment: 128, threshold: 1024, padDynamic: false, padChannelsLast: false };

test("rows longer than the threshold are padded to 128 bytes", () => {
  expect(ns(padStrides(es(4096, 10000), es(10000, 1), "float32", padding, sizevars))).toEqual([10016, 1]);
  expect(ns(padStrides(es(4096, 10000), es(10000, 1), "float16", padding, sizevars))).toEqual([10048, 1]);
  expect(ns(padStrides(es(4096, 1000), es(1000, 1), "float32", padding, sizevars))).toEqual([1000, 1]);
});

test("a dimension of one element is padded like any other", () => {
  expect(ns(padStrides(es(16, 197, 1), es(197, 1, 3152), "float32", padding, sizevars))).toEqual([197, 1, 3168]);
});

test("of equal strides the later dimension is the inner one", () => {
  expect(fillOrderOf(es(2048, 2048, 16, 1), sizevars)).toEqual([3, 2, 1, 0]);
  expect(strideOrderOf(es(1, 8, 1), sizevars)).toEqual([1, 2, 0]);
});

test("channels-last strides keep channels innermost", () => {
  expect(ns(channelsLastStrides(es(8, 3, 128, 128)))).toEqual([49152, 1, 384, 3]);
  expect(ns(strideOrdered(es(8, 3, 128, 128), [3, 0, 2, 1]))).toEqual([49152, 1, 384, 3]);
});

test("dimensions of one element never make a tensor non-contiguous", () => {
  expect(isContiguous(es(8, 1, 4), es(4, 999, 1), sizevars)).toBe(true);
  expect(isStrideOrdered(es(8, 1, 4), es(4, 999, 1), [2, 1, 0], sizevars)).toBe(true);
  expect(isContiguous(es(8, 4), es(1, 8), sizevars)).toBe(false);
});
