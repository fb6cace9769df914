import type { ExternFunction } from "../externs";

export const ordering: Readonly<Record<string, ExternFunction>> = {};
