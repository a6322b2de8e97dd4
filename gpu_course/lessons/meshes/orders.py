"""What the puzzles of lesson 29 share: orders of axes that are in use, and orders drawn at random.

Sources: Llama Team 2024, arXiv 2407.21783, section 3.3.2 ([TP, CP, PP, DP]); NVIDIA/Megatron-LM,
megatron/core/parallel_state.py ("tp-cp-ep-dp-pp").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpu_course.measure.meshes import Mesh

LLAMA_3 = ("tp", "cp", "pp", "dp")
MEGATRON = ("tp", "cp", "ep", "dp", "pp")
NAMES = ("tp", "cp", "ep", "dp", "pp")


@dataclass(frozen=True)
class Given:
    """An order of axes, the innermost first, and sizes, which may leave axes of one place out."""

    order: tuple[str, ...]
    sizes: dict[str, int] = field(default_factory=dict)

    @property
    def mesh(self) -> Mesh:
        """The mesh that they mean."""
        return Mesh(tuple((axis, self.sizes.get(axis, 1)) for axis in self.order))

    @property
    def arguments(self) -> tuple[Any, Any]:
        """The order and the sizes as an answer gets them."""
        return list(self.order), dict(self.sizes)


def drawn(rng: np.random.Generator, most: int = 64) -> Given:
    """Returns an order of three to five axes, no two sizes alike but for those of one place.

    Args:
        rng: where the randomness comes from.
        most: ranks.
    """
    while True:
        order = [str(each) for each in rng.permutation(NAMES)[: rng.integers(3, 6)]]
        large = [int(each) for each in rng.permutation([2, 3, 4, 5])]
        sizes = {axis: large.pop() if large and rng.integers(3) else 1 for axis in order}
        used = [size for size in sizes.values() if size > 1]
        if len(used) < 2 or np.prod(used) > most:
            continue
        kept = [axis for axis in order if sizes[axis] > 1 or rng.integers(2)]
        # Sizes in another order than the axes.
        return Given(tuple(order), {axis: sizes[axis] for axis in sorted(kept)})
