import type { ExternFunction } from "../externs";

export const convolution: Readonly<Record<string, ExternFunction>> = {};
