/** a program that compiles one expression of a, b and c, and calls it with so many arguments, without gradients */
export function sourceOf(expression: string, args: readonly string[]): string {
  const names = ["a", "b", "c"].slice(0, args.length).join(", ");
  return `import torch\nimport torch.nn.functional as F\n\n\n@torch.compile\ndef f(${names}):\n    return ${expression}\n\n\nwith torch.no_grad():\n    f(${args.join(", ")})\n`;
}
