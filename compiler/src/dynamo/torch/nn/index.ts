// torch.nn's layers as Python sources by module name; torch.nn itself re-exports what they define.
import { LAYERS_BASIC } from "./layers_basic";
import { LAYERS_COMPOSED } from "./layers_composed";
import { LAYERS_SPATIAL } from "./layers_spatial";

export const NN_SOURCES: Readonly<Record<string, string>> = {
  "torch.nn.modules.basic": LAYERS_BASIC,
  "torch.nn.modules.spatial": LAYERS_SPATIAL,
  "torch.nn.modules.composed": LAYERS_COMPOSED,
};
