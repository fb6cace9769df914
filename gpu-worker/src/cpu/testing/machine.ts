// Test only. A machine of one thread over a small memory.
import { EXTERN_BUILTINS } from "../builtins/index";
import { Machine } from "../machine";
import { ThreadPool } from "../threads";

const PAGE = 65536;

export async function testMachine(megabytes = 256): Promise<Machine> {
  const pages = (megabytes * 2 ** 20) / PAGE;
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const machine = await Machine.start(memory, new ThreadPool(memory, 1, ""), pages * PAGE);
  await machine.loadBuiltins(EXTERN_BUILTINS);
  return machine;
}
