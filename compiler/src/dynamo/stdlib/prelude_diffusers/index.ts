// Layers of diffusers that other repositories build their models of. In: nothing. Out: the text of all modules of diffusers.models,
// and which modules of diffusers have it.
import { ATTENTION, RESIDUAL } from "./attention";
import { EMBEDDINGS } from "./embeddings";
import { ACTIVATIONS, NORMS } from "./norms";

const BASES = `
from diffusers import BaseOutput, ConfigMixin, FromOriginalModelMixin, ModelMixin, ModelOutput, register_to_config
from diffusers import PeftAdapterMixin, UNet2DConditionLoadersMixin, FromSingleFileMixin
`;

export const DIFFUSERS_LAYERS = BASES + ACTIVATIONS + NORMS + EMBEDDINGS + ATTENTION + RESIDUAL;

/** where those that are not among the base classes lie */
export const hasDiffusersLayers = (module: string): boolean =>
  /^diffusers\.(models\b(?!\.modeling_utils$)|utils\.(torch_utils|accelerate_utils|import_utils)$)/.test(module);
