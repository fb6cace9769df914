// What the parts of the torch package need of the whole. In: nothing. Out: an interface that TorchNamespace fills.
import type { Machine } from "../interp/machine";
import type { Value } from "../objects/values";
import type { CompileApi } from "./compile_api";
import type { Torch } from "./context";

export interface TorchParts {
  readonly vm: Machine;
  readonly torch: Torch;
  readonly api: CompileApi;
  /** a class or function of torch that is Python text; undefined: there is none of that name */
  helper(name: string): Value | undefined;
  /** a context manager of torch */
  mode(name: string): Value;
  /** a class of torch.nn */
  nnClass(name: string): Value | undefined;
}
