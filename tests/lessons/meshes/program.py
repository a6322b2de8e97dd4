"""What the program that lesson 29 prints for a cluster is to return."""

from __future__ import annotations

from gpu_course.measure.meshes import Mesh
from tests.course.programs import RANKS


def right(rank: int) -> list[float]:
    """The sums of the ranks of its two groups."""
    mesh = Mesh.of(tp=2, dp=RANKS // 2)
    return [float(sum(mesh.group(rank, axis))) for axis in ("dp", "tp")]
