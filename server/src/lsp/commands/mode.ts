// fuselens.switchMode {uri, root}: a module that its file never calls is shown in eval() without grad, or in train() with
// grad, forward and backward. Kept until the server ends.
import { IN_EVAL, IN_TRAINING } from "@fuselens/compiler/vocabulary";
import type { ServerContext } from "../context";
import { failed, rootIn, type Target, viewOf } from "./target";

export interface SwitchedMode {
  readonly root: string;
  readonly training: boolean;
  readonly summary: string;
}

export async function switchMode(ctx: ServerContext, target: Target): Promise<SwitchedMode> {
  const view = await viewOf(ctx, target);
  const switchable = view.program.roots.filter(r => r.assumed.some(a => a === IN_EVAL || a === IN_TRAINING));
  const root = rootIn(view, target) ?? switchable[0];
  if (!root || !switchable.includes(root))
    throw failed("the file itself says whether this is trained: only modules that it never calls are shown either way");
  const training = ctx.switchMode(view.path, root.name);
  return {
    root: root.name,
    training,
    summary: `${root.name} is shown ${training ? "in training, forward and backward" : "in inference"}`,
  };
}
