"""Harness of `block_quantise_state`: there and back again, and the bytes in between."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.measure.peak import bytes_of
from gpu_course.puzzle.harness import Unusable, name_of


def run(answer: ModuleType, values: np.ndarray, block: int, power: int) -> dict[str, Any]:
    """Returns codes and scales, what comes back of them, and the bytes behind both."""
    import torch

    with _numbers_alone():
        found = answer.quantise(torch.from_numpy(values), block, power)
    if not (isinstance(found, tuple) and len(found) == 2):
        fact = f"quantise returned {name_of(found)}; (codes, scales) is asked for"
        raise Unusable(fact, "not-written")
    codes, scales = found
    asked: tuple[tuple[str, Any, torch.dtype], ...] = (
        ("codes", codes, torch.int8),
        ("scales", scales, torch.float32),
    )
    for name, each, dtype in asked:
        if not isinstance(each, torch.Tensor) or each.dtype != dtype or each.ndim != 1:
            wanted = str(dtype).removeprefix("torch.")
            fact = f"{name} is {_said(each)}; a tensor of {wanted} with one axis is asked for"
            raise Unusable(fact, "not-written")
    blocks = -(-len(values) // block)
    if len(codes) != len(values) or len(scales) != blocks:
        # Nothing comes back of these; their lengths tell the rest.
        restored: Any = torch.zeros(len(values))
    else:
        restored = answer.dequantise(codes, scales, block, power)
    if not isinstance(restored, torch.Tensor):
        fact = f"dequantise returned {name_of(restored)}, not a tensor"
        raise Unusable(fact, "not-written")
    return {
        "codes": codes.numpy(),
        "scales": scales.numpy(),
        "restored": restored.numpy(),
        "bytes": bytes_of(codes, scales),
    }


@contextlib.contextmanager
def _numbers_alone() -> Iterator[None]:
    """Raises Unusable where a float that is no number, or infinite, is to become a whole one.

    C leaves open what comes of it: 0 on one machine, something else on the next.
    """
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watched(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
        ) -> Any:
            made = func(*args, **(kwargs or {}))
            name = func.overloadpacket.__name__
            if name in ("_to_copy", "copy_") and not made.is_floating_point():
                given = args[1] if name == "copy_" else args[0]
                if given.is_floating_point() and not given.isfinite().all():
                    raise _no_number()
            return made

    with Watched(), warnings.catch_warnings():
        warnings.filterwarnings("error", "invalid value encountered in cast", RuntimeWarning)
        try:
            yield
        except RuntimeWarning:
            raise _no_number() from None


def _no_number() -> Unusable:
    return Unusable("quantise turns a float that is no finite number into a whole one", "no-number")


def _said(each: Any) -> str:
    """Returns what something is, in a few words."""
    if not hasattr(each, "dtype"):
        return type(each).__name__
    if not str(each.dtype).startswith("torch."):
        return f"a NumPy {type(each).__name__}"
    return f"{each.dtype} of shape {tuple(each.shape)}".removeprefix("torch.")
