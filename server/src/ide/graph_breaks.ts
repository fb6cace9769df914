// What helps against a graph break, by Dynamo's reason for it. In: the reason's text. Out: a hint in our words, or null.

const HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /Tensor\.item\(\)|capture_scalar_outputs|_local_scalar_dense/,
    "Keep the number a tensor (torch.where, masking), or set torch._dynamo.config.capture_scalar_outputs = True.",
  ],
  [
    /[Dd]ata[- ]dependent|branch|torch\.cond/,
    "Choose with torch.where or torch.cond, or take the decision outside the compiled function.",
  ],
  [/print|logging|warn/i, "Print outside the compiled function, or pass the callable to torch.compiler.disable."],
  [
    /nonzero|unique|masked_select|dynamic (output )?shape/i,
    "Set torch._dynamo.config.capture_dynamic_output_shape_ops = True, or keep the shape fixed with torch.where.",
  ],
  [/disable|skipfiles|skip/i, "Drop torch.compiler.disable, or call the function before or after the compiled part."],
  [/numpy|\.numpy\(\)/i, "Stay in torch, or move the NumPy part out of the compiled function."],
  [/backward\(\)|autograd\.grad/, "Call backward outside the compiled function."],
  [/generator|context manager|with /i, "Enter the context outside the compiled function."],
  [/builtin|C\/C\+\+|C function|extension/i, "Wrap the call as a custom operator with torch.library.custom_op."],
  [/mutat|global|side effect/i, "Return the new value and store it outside the compiled function."],
  [/try|except|rais/i, "Move the exception handling out of the compiled function."],
];

export function graphBreakHint(reason: string): string | null {
  return HINTS.find(([pattern]) => pattern.test(reason))?.[1] ?? null;
}
