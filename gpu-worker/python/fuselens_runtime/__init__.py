"""What FuseLens's standalone output code needs besides PyTorch and Triton.

Only their public interfaces are used: triton.jit, triton.Config, triton.language, torch tensors and operators.
"""

from triton.language import math as tl_math
from triton.language.extra import libdevice

from fuselens_runtime import heuristics, triton_helpers

__all__ = ["heuristics", "libdevice", "tl_math", "triton_helpers"]
