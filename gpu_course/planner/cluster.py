"""A described cluster: so many GPUs of one kind, with their nodes and their network."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_course.errors import CourseError
from gpu_course.planner.machines import Machine


@dataclass(frozen=True)
class Cluster:
    """A cluster that a run uses whole.

    Attributes:
        card: its machine, with how many cards share a node and what links them.
        gpus: how many there are: a part of one node, or whole nodes.

    Raises:
        CourseError: they are no such number.
    """

    card: Machine
    gpus: int

    def __post_init__(self) -> None:
        node, gpus = self.card.node, self.gpus
        if isinstance(gpus, bool) or not isinstance(gpus, int) or gpus < 1:
            raise CourseError(f"a cluster has {gpus!r} GPUs", "give a whole number of 1 or more")
        if gpus > node and gpus % node:
            raise CourseError(
                f"{gpus:,} GPUs are no whole nodes of {node}",
                f"give {gpus // node * node:,} or {-(-gpus // node) * node:,}",
            )

    @property
    def gpus_per_node(self) -> int:
        """How many share a node."""
        return min(self.card.node, self.gpus)

    @property
    def memory_bytes(self) -> float:
        """Of each GPU."""
        return self.card.memory_bytes

    @property
    def node_link_bytes_per_s(self) -> float:
        """Of a GPU to the others of its node; 0 where there is no link."""
        return self.card.nvlink_bytes_per_s

    @property
    def network_bytes_per_s(self) -> float:
        """Of a GPU to other nodes; 0 where there is none."""
        return self.card.network_bytes_per_s
