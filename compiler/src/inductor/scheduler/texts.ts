// Short texts that refusals share. Promises: as torch prints them.
import type { Device } from "../../aten/types";

export const deviceText = (d: Device): string => (d.index === null ? d.type : `${d.type}:${d.index}`);
