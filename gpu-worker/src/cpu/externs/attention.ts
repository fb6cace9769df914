import type { ExternFunction } from "../externs";

export const attention: Readonly<Record<string, ExternFunction>> = {};
