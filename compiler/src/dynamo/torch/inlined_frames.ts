// Frames of torch's own files that Dynamo traces through and shows. In: a function's name. Out: its frames, the outer first.
import type { StackFrame } from "../../fx/types";

interface Place {
  readonly file: string;
  readonly func: string;
  readonly line: number;
  readonly code: string;
  /** where the line begins, and what of it is no part of the call */
  readonly column?: number;
  readonly from?: number;
}

const FUNCTIONAL = "torch/nn/functional.py";

/** where torch 2.11 defines what Dynamo traces into */
const INLINED: Readonly<Record<string, readonly Place[]>> = {
  rms_norm: [
    {
      file: FUNCTIONAL,
      func: "rms_norm",
      line: 2954,
      code: "return torch.rms_norm(input, normalized_shape, weight, eps)",
    },
  ],
  pad: [{ file: FUNCTIONAL, func: "pad", line: 5430, code: "return torch._C._nn.pad(input, pad, mode, value)" }],
  _threshold: [
    {
      file: FUNCTIONAL,
      func: "_threshold",
      line: 1693,
      code: "result = _VF.threshold(input, threshold, value)",
      column: 8,
      from: 9,
    },
  ],
  _threshold_: [
    {
      file: FUNCTIONAL,
      func: "_threshold",
      line: 1691,
      code: "result = _VF.threshold_(input, threshold, value)",
      column: 8,
      from: 9,
    },
  ],
  _canonical_mask: [
    {
      file: FUNCTIONAL,
      func: "_canonical_mask",
      line: 6215,
      code: "mask = torch.zeros_like(mask, dtype=target_type).masked_fill_(",
      column: 12,
      from: 7,
    },
  ],
  weight_norm_hook: [
    {
      file: "torch/nn/utils/weight_norm.py",
      func: "__call__",
      line: 78,
      code: "setattr(module, self.name, self.compute_weight(module))",
      column: 8,
      from: 27,
    },
    {
      file: "torch/nn/utils/weight_norm.py",
      func: "compute_weight",
      line: 29,
      code: "return _weight_norm(v, g, self.dim)",
      column: 8,
    },
  ],
  weight_norm_parametrized: [
    {
      file: "torch/nn/utils/parametrize.py",
      func: "get_parametrized",
      line: 421,
      code: "return parametrization()",
      column: 12,
    },
    {
      file: "torch/nn/utils/parametrize.py",
      func: "forward",
      line: 315,
      code: "x = self[0](*originals)",
      column: 12,
      from: 4,
    },
    {
      file: "torch/nn/utils/parametrizations.py",
      func: "forward",
      line: 327,
      code: "return torch._weight_norm(weight_v, weight_g, self.dim)",
      column: 8,
    },
  ],
};

export function inlinedFrames(name: string): StackFrame[] {
  const places = Object.hasOwn(INLINED, name) ? (INLINED[name] ?? []) : [];
  return places.map(({ file, func, line, code, column = 4, from = "return ".length }) => ({
    file,
    func,
    line,
    code,
    span: { line, column: column + from, endLine: line, endColumn: column + code.length },
  }));
}
