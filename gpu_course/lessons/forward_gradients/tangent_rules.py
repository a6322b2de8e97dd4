"""PyTorch's rules for tangents, loaded beforehand; importing this module is all there is to do.

`torch.func.jvp` loads them at its first use, with a warning, and from files that a closed process
cannot open.
"""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import torch._decomp.decompositions_for_jvp  # noqa: F401
