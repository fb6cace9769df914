// Modules of torch around a model: scripting, processes, profilers, backends. They say how a program runs, not what it
// computes: here nothing is scripted and there is one process. In: a module's name and the module to fill.
import { func } from "../builtins/define";
import { type PyModule, PyNamed, PyObject, PyTuple, type Value } from "../objects/values";
import { cond } from "./namespace_functions";
import type { TorchParts } from "./namespace_parts";
import { PyTensor } from "./objects";

/** false: the module is none of these */
export function fillSurroundings(
  ns: TorchParts,
  name: string,
  m: PyModule,
  lazily: (f: (n: string) => Value | undefined) => void,
): boolean {
  const { vm } = ns;
  const ignore = (n: string): Value | undefined => (n.startsWith("__") ? undefined : vm.builtin(n, () => null));
  switch (name) {
    case "torch.jit":
      for (const n of ["is_scripting", "is_tracing"]) func(vm, m, n, () => false);
      for (const n of [
        "script",
        "ignore",
        "unused",
        "export",
        "script_method",
        "interface",
        "freeze",
        "optimize_for_inference",
      ]) {
        m.dict.set(
          n,
          vm.builtin(n, ([f]) =>
            f instanceof PyObject && !(f instanceof PyTuple) ? f : vm.builtin(n, ([g]) => g ?? null),
          ),
        );
      }
      func(vm, m, "annotate", ([, v]) => v ?? null);
      func(vm, m, "isinstance", ([v, c]) => vm.isInstance(v ?? null, c ?? null));
      func(vm, m, "trace", ([f]) => f ?? null);
      m.dict.set("Final", new PyNamed(vm.types.object, "torch.jit.Final"));
      m.dict.set("ScriptModule", ns.nnClass("Module") ?? null);
      lazily(n => (n === "Attribute" ? vm.builtin(n, ([v]) => v ?? null) : ignore(n)));
      return true;
    case "torch.distributed":
      for (const n of ["is_available", "is_initialized", "is_torchelastic_launched"]) func(vm, m, n, () => false);
      func(vm, m, "get_rank", () => 0);
      func(vm, m, "get_world_size", () => 1);
      m.dict.set("ReduceOp", vm.unknown("torch.distributed.ReduceOp"));
      for (const n of ["all_gather", "all_gather_into_tensor", "all_to_all_single", "reduce_scatter_tensor"])
        func(vm, m, n, ([to, from]) => collect(ns, to ?? null, from ?? null));
      lazily(n =>
        /^[A-Z]|^(group|reduce_op|dist_backend)$/.test(n) ? vm.unknown(`torch.distributed.${n}`) : ignore(n),
      );
      return true;
    case "torch.distributed.nn":
    case "torch.distributed.nn.functional":
    case "torch.distributed._functional_collectives":
      // of one process, what is collected is what it has
      lazily(n => {
        if (n.startsWith("__")) return undefined;
        if (/^all_gather$/.test(n)) return vm.builtin(n, ([t]) => vm.tuple([t ?? null]));
        return vm.builtin(n, ([t]) => t ?? null);
      });
      return true;
    case "torch.accelerator":
      func(vm, m, "is_available", () => true);
      func(vm, m, "device_count", () => 1);
      func(vm, m, "current_accelerator", () => ns.torch.device({ type: "cuda", index: null }));
      lazily(ignore);
      return true;
    case "torch.nn.attention":
      m.dict.set("sdpa_kernel", ns.mode("_Null"));
      lazily(n => (n.startsWith("__") ? undefined : vm.unknown(`torch.nn.attention.${n}`)));
      return true;
    case "torch.profiler":
    case "torch.autograd.profiler":
    case "torch.cuda.nvtx":
      lazily(n =>
        /^(range_push|range_pop|mark|schedule|tensorboard_trace_handler)$/.test(n) ? ignore(n) : ns.mode("_Null"),
      );
      return true;
    case "torch.backends.cuda":
      m.dict.set("sdp_kernel", ns.mode("_Null"));
      lazily(n =>
        /^[A-Z]/.test(n)
          ? vm.unknown(`torch.backends.cuda.${n}`)
          : n.startsWith("is_") || n.endsWith("_enabled")
            ? vm.builtin(n, () => true)
            : ignore(n),
      );
      return true;
    case "torch.backends.mps":
    case "torch.backends.mkldnn":
    case "torch.backends.xeon":
    case "torch.mps":
    case "torch.xpu":
    case "torch.mtia":
      lazily(n => (/^(is_available|is_built)$/.test(n) ? vm.builtin(n, () => false) : ignore(n)));
      return true;
    case "torch.backends.cuda.matmul":
      ns.torch.allowsTf32 = () => m.dict.get("allow_tf32") === true || m.dict.get("fp32_precision") === "tf32";
      lazily(n => (n.startsWith("__") ? undefined : false));
      return true;
    case "torch.backends":
    case "torch.backends.cudnn":
    case "torch.backends.quantized":
      if (m.name === "torch.backends.cudnn") {
        ns.torch.cudnnAllowsTf32 = () => m.dict.get("allow_tf32") !== false;
        func(vm, m, "version", () => 91_002);
        m.dict.set("flags", ns.mode("_Null"));
      }
      lazily(n => (n.startsWith("__") ? undefined : /^is_|available$/.test(n) ? vm.builtin(n, () => true) : false));
      return true;
    case "torch._higher_order_ops":
      lazily(n =>
        n === "cond"
          ? vm.builtin(n, ([p, a, b, xs]) => cond(ns, p ?? null, a ?? null, b ?? null, xs ?? vm.tuple([])))
          : vm.unknown(`torch._higher_order_ops.${n}`),
      );
      return true;
    case "torch.types":
    case "torch.version":
      m.dict.set("cuda", "12.8");
      m.dict.set("hip", null);
      lazily(n => (n.startsWith("__") ? undefined : new PyNamed(vm.types.object, `torch.types.${n}`)));
      return true;
    case "torch.torch_version":
      return true;
    default:
      return false;
  }
}

/** a collective of one process: what it sends is what it gets */
function collect(ns: TorchParts, to: Value, from: Value): Value {
  const { vm } = ns;
  const outputs = to instanceof PyTensor ? [to] : vm.toArray(to);
  if (from instanceof PyTensor) for (const t of outputs) vm.call(vm.getattr(t, "copy_"), [from]);
  return null;
}
