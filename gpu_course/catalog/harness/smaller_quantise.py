"""Harness of `block_quantise_state`: there and back again, and the bytes in between."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.catalog.harness import Unusable
from gpu_course.training.peak import bytes_of


def run(answer: ModuleType, values: np.ndarray, block: int, power: int) -> dict[str, Any]:
    """Returns codes and scales, what comes back of them, and the bytes behind both."""
    import torch

    found = answer.quantise(torch.from_numpy(values), block, power)
    if not (isinstance(found, tuple) and len(found) == 2):
        raise Unusable("quantise is to return (codes, scales), a tuple of two tensors")
    codes, scales = found
    for name, each, dtype in (("codes", codes, torch.int8), ("scales", scales, torch.float32)):
        if not isinstance(each, torch.Tensor) or each.dtype != dtype or each.ndim != 1:
            raise Unusable(f"{name} is no tensor of {dtype} with one axis".replace("torch.", ""))
    blocks = -(-len(values) // block)
    if len(codes) != len(values) or len(scales) != blocks:
        # Nothing comes back of these; their lengths tell the rest.
        restored = torch.zeros(len(values))
    else:
        restored = answer.dequantise(codes, scales, block, power)
    if not isinstance(restored, torch.Tensor):
        raise Unusable(f"dequantise returned {type(restored).__name__}, not a tensor")
    return {
        "codes": codes.numpy(),
        "scales": scales.numpy(),
        "restored": restored.numpy(),
        "bytes": bytes_of(codes, scales),
    }
