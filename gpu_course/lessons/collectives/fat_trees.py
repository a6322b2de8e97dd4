"""A fat tree of switches: how many of them join so many GPUs, and where it gets narrow.

Every switch has equally many ports of equal speed. Below the top a switch has as many cables
upwards as downwards, so that all GPUs can talk at once; the level below the top may have more
downwards: then the network is oversubscribed. No port of a switch that goes upwards is left free,
and each top switch has a cable to each part of the network below it.

Source: Leiserson 1985, "Fat-Trees: Universal Networks for Hardware-Efficient Supercomputing";
Al-Fares, Loukissas and Vahdat 2008, "A Scalable, Commodity Data Center Network Architecture".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from gpu_course.errors import CourseError


@dataclass(frozen=True)
class FatTree:
    """What a network is made of.

    Attributes:
        switches: of each level, from the GPUs upwards.
        cables: that end at each level from below.
        island: GPUs that reach each other at full bandwidth, whatever the others send.
    """

    switches: tuple[int, ...]
    cables: tuple[int, ...]
    island: int

    @property
    def optics(self) -> int:
        """Transceivers, if every cable has one at either end."""
        return 2 * sum(self.cables)


def ports_down(ports: int, oversubscribed: int = 1) -> int:
    """Returns how many ports of a switch go downwards, with at most so many for one upwards.

    >>> ports_down(64), ports_down(64, 7), ports_down(40, 2)
    (32, 56, 26)
    """
    return ports - math.ceil(ports / (1 + oversubscribed))


def most_gpus(ports: int, levels: int, oversubscribed: int = 1) -> int:
    """Returns how many GPUs so many levels can join.

    >>> [most_gpus(64, levels) for levels in (1, 2, 3)]
    [64, 2048, 65536]
    >>> most_gpus(64, 2, 7)
    3584
    """
    most = ports
    for level in range(1, levels):
        most *= ports_down(ports, oversubscribed if level == levels - 1 else 1)
    return most


def levels_for(gpus: int, ports: int, oversubscribed: int = 1) -> int:
    """Returns the fewest levels that join so many GPUs.

    >>> levels_for(64, 64), levels_for(65, 64), levels_for(100_000, 64), levels_for(100_000, 128)
    (1, 2, 4, 3)

    Raises:
        CourseError: no GPU, fewer than 4 ports, an odd number of them, or nothing upwards.
    """
    if gpus < 1 or ports < 4 or ports % 2 or oversubscribed < 1:
        raise CourseError(
            f"no fat tree of {gpus} GPUs, {ports} ports and {oversubscribed} to 1",
            "give at least one GPU, an even number of 4 ports or more, and 1 to 1 or more",
        )
    levels = 1
    while most_gpus(ports, levels, oversubscribed) < gpus:
        levels += 1
    return levels


def fat_tree(gpus: int, ports: int, oversubscribed: int = 1) -> FatTree:
    """Returns the smallest fat tree that joins so many GPUs.

    Args:
        gpus: cables from below.
        ports: of each switch, an even number.
        oversubscribed: r, at most so many cables downwards for one upwards, on the level below the
            top; 1 for full bandwidth everywhere.

    >>> fat_tree(1600, 40).switches, sum(fat_tree(1600, 40).switches)
    ((80, 80, 40), 200)
    >>> fat_tree(24_576, 64, 7)
    FatTree(switches=(768, 439, 55), cables=(24576, 24576, 3512), island=1792)
    """
    levels = levels_for(gpus, ports, oversubscribed)
    switches, cables, island, arriving = [], [], 1, gpus
    for level in range(1, levels + 1):
        cables.append(arriving)
        top = level == levels
        down = ports if top else ports_down(ports, oversubscribed if level == levels - 1 else 1)
        switches.append(-(-arriving // down))
        arriving = switches[-1] * (ports - down)
        if not top:
            island *= down
    whole = oversubscribed == 1 or levels == 1
    return FatTree(tuple(switches), tuple(cables), gpus if whole else min(island, gpus))
