// What Python 3.11 prints for these, on Linux.
import { expect, it } from "vitest";
import { exp, log, log2, pow } from "./exact_math";

it("gives powers as C does", () => {
  expect(pow(32, -0.5)).toBe(0.1767766952966369);
  expect(pow(96, -0.5)).toBe(0.10206207261596575);
  expect(pow(80, -0.5)).toBe(0.11180339887498948);
  expect(pow(10000, -0.03125)).toBe(0.7498942093324559);
  expect(pow(0.9, 7)).toBe(0.4782969000000001);
  expect(pow(0.999, 1000)).toBe(0.36769542477096373);
  expect(pow(3, -3)).toBe(0.037037037037037035);
  expect(pow(-2, 3)).toBe(-8);
  expect(pow(4, 0.5)).toBe(2);
  expect(pow(2, 1000)).toBe(1.0715086071862673e301);
  expect(pow(2, 53)).toBe(2 ** 53);
  expect(pow(10, 22)).toBe(1e22);
  expect(pow(10, -5)).toBe(1e-5);
  expect(pow(0, 3)).toBe(0);
  expect(pow(-8, 1 / 3)).toBeNaN();
});

it("gives exponentials and logarithms as C does", () => {
  expect(log(10000)).toBe(9.210340371976184);
  expect(log(0.05)).toBe(-2.995732273553991);
  expect(log(1)).toBe(0);
  expect(log2(8)).toBe(3);
  expect(log2(10)).toBe(3.321928094887362);
  expect(exp(2)).toBe(7.38905609893065);
  expect(exp(-9.210340371976184 / 64)).toBe(0.8659643233600653);
  expect(exp(-0.1)).toBe(0.9048374180359595);
  expect(exp(0)).toBe(1);
});
