// Names that torch keeps for itself or has given up, which model code imports all the same. In: a module's name and the module
// to fill, or a name of torch.nn.modules. Out: what it stands for.
import { func } from "../builtins/define";
import type { PyModule, Value } from "../objects/values";
import type { TorchParts } from "./namespace_parts";

/** Python over torch.nn.functional: projections of attention, and attention as torch 1.9 to 1.11 had it */
export const PRIVATE_TEXT = `
def _in_projection_packed(q, k, v, w, b=None):
    width = q.size(-1)
    linear = torch.nn.functional.linear
    if k is v and q is k:
        parts = linear(q, w, b).unflatten(-1, (3, width)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
        return parts[0], parts[1], parts[2]
    if k is v:
        w_q, w_kv = w.split([width, width * 2])
        b_q, b_kv = (None, None) if b is None else b.split([width, width * 2])
        parts = linear(k, w_kv, b_kv).unflatten(-1, (2, width)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
        return linear(q, w_q, b_q), parts[0], parts[1]
    biases = (None,) * 3 if b is None else b.chunk(3)
    return tuple(linear(x, m, n) for x, m, n in zip((q, k, v), w.chunk(3), biases))


def _in_projection(q, k, v, w_q, w_k, w_v, b_q=None, b_k=None, b_v=None):
    linear = torch.nn.functional.linear
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0):
    scaled = q / q.shape[-1] ** 0.5
    attn = torch.bmm(scaled, k.transpose(-2, -1)) if attn_mask is None else torch.baddbmm(attn_mask, scaled, k.transpose(-2, -1))
    attn = torch.softmax(attn, dim=-1)
    if dropout_p > 0.0:
        attn = torch.nn.functional.dropout(attn, p=dropout_p)
    return torch.bmm(attn, v), attn
`;

/** functions of torch.nn.functional that PRIVATE_TEXT defines */
export const PRIVATE_FUNCTIONAL = ["_in_projection_packed", "_in_projection", "_scaled_dot_product_attention"] as const;

/** questions about tensor subclasses and exports: here are none */
const NEVER = /^(has_torch_function(_unary|_variadic)?|is_in_onnx_export)$/;

export const neverTrue = (ns: TorchParts, name: string): Value | undefined =>
  NEVER.test(name) ? ns.vm.builtin(name, () => false) : undefined;

/** false: the module is none of these */
export function fillPrivate(ns: TorchParts, name: string, m: PyModule): boolean {
  const { vm } = ns;
  switch (name) {
    case "torch._six":
      m.dict.set("container_abcs", vm.importModule("collections.abc", null));
      m.dict.set("string_classes", vm.tuple([vm.types.str, vm.types.bytes]));
      m.dict.set("int_classes", vm.types.int);
      for (const n of ["inf", "nan"]) m.dict.set(n, vm.getattr(vm.importModule("math", null), n));
      for (const n of ["PY3", "PY37"]) m.dict.set(n, true);
      return true;
    case "torch.overrides":
    case "torch.onnx":
      m.lazy = n => (n.startsWith("__") ? undefined : (neverTrue(ns, n) ?? vm.unknown(`${name}.${n}`)));
      return true;
    case "torch.nn.modules.utils":
      for (const [n, times] of Object.entries({ _single: 1, _pair: 2, _triple: 3, _quadruple: 4 }))
        m.dict.set(n, repeater(ns, times));
      func(vm, m, "_ntuple", ([n]) => repeater(ns, Number(n)));
      func(vm, m, "_reverse_repeat_tuple", ([t, n]) =>
        vm.tuple(
          vm
            .toArray(t ?? null)
            .reverse()
            .flatMap(v => new Array<Value>(Number(n)).fill(v)),
        ),
      );
      return true;
    default:
      return false;
  }
}

/** repeats a number, leaves a sequence as it is */
export const repeater = (ns: TorchParts, n: number): Value =>
  ns.vm.builtin("_ntuple", ([v]) => ns.vm.call(ns.helper("_repeat") ?? null, [n, v ?? null]));
