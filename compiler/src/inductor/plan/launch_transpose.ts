import type { GroupNode } from "../scheduler/types";
import type { LaunchBuilder } from "./launches";
export function launchTransposeReduction(l: LaunchBuilder, node: GroupNode): void {
  void l;
  throw new Error(`${node.name}: transpose`);
}
