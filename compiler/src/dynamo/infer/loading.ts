// Weights that a constructor loads. In: what runs it. Nothing of weights is read, so that what the program does with them
// may fail where it would not: a function that only loads them is then passed over, and that is said.
import type { PyError } from "../interp/api";
import type { Frame } from "../interp/frame";
import type { InferContext } from "./context";
import { messageOf } from "./search/failure";

const LOADS = /^_?(load|init|inflate|initialize|restore)_?\w*(pretrain|weight|checkpoint|ckpt|state_dict)\w*$/i;
const READS = /load|pretrain|inflate|restore|checkpoint|ckpt|state_dict/i;
const ENDLESS = /^(TimeoutError|RecursionError)$/;

export function withoutLoading<T>(ctx: InferContext, run: () => T): T {
  const { vm } = ctx;
  const before = vm.passedOver;
  vm.passedOver = (frame: Frame, e: PyError) => {
    const { name, file } = frame.code;
    if (file.library !== "user" || !LOADS.test(name) || ENDLESS.test(e.value.cls.name)) return false;
    // values that nobody knows are no weights where none are loaded
    if (!READS.test(name) && /\bunknown\b/.test(messageOf(ctx, e))) return false;
    const note = `${name}() loads no weights`;
    if (!ctx.assumed.includes(note)) ctx.assumed.push(note);
    return true;
  };
  try {
    return run();
  } finally {
    vm.passedOver = before;
  }
}
