// Calls of tensor constructors as Python's argument parser leaves them. In: bound arguments of a constructor. Out: its
// keywords with device and pin_memory filled in, or null for a call that another operator wrote, which is left alone.
import { type Args, type ArgValue, DeviceArg, type GraphBuilder } from "../../types";
import { writtenDevice } from "./factories";

export function pythonOptions<T>(b: GraphBuilder<T>, a: Args<T>, format = false): Record<string, ArgValue<T>> | null {
  if (a.has("layout") || a.raw("pin_memory") !== null) return null;
  return {
    ...(a.has("dtype") ? { dtype: a.raw("dtype") } : {}),
    device: new DeviceArg(writtenDevice(b, a)),
    pin_memory: false,
    ...(format && a.has("memory_format") ? { memory_format: a.raw("memory_format") } : {}),
  };
}
