"""The network that so many GPUs need: levels, switches, cables, and what they come to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_course.lessons.collectives.fat_tree_picture import Level, draw_fat_tree
from gpu_course.lessons.collectives.fat_trees import fat_tree
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SWITCH_W = 1500
"""Watts of a switch with 64 ports of 400 Gbit/s and optics in all of them; SemiAnalysis 2024."""


def network(gpus: int = 24_576, ports: int = 64, oversubscribed: int = 1) -> Figure:
    """Returns the levels of a fat tree, and what its switches and cables come to.

    Args:
        gpus: how many it joins.
        ports: of each switch.
        oversubscribed: cables downwards for one upwards, on the level below the top.
    """
    tree = fat_tree(gpus, ports, oversubscribed)
    above = [*tree.cables[1:], 0]
    levels = [
        Level(switches, ports - up // switches, up // switches, cables)
        for switches, cables, up in zip(tree.switches, tree.cables, above, strict=True)
    ]
    cables, switches = sum(tree.cables), sum(tree.switches)
    kw = switches * SWITCH_W * ports / 64 / 1e3
    share = "all GPUs reach each other at full rate"
    if tree.island < gpus:
        share = f"full rate among {tree.island:,} GPUs; beyond, 1/{oversubscribed} if all send"
    words = [
        share,
        f"{count(switches, 'switch')}, {_power(kw)} with optics in all ports",
        f"{tree.optics:,} transceivers if no cable is copper",
        f"a cable fails every {_minutes(5 * 365 * 24 * 60 / cables)}, if each lasts 5 years",
    ]
    return draw_fat_tree(levels, gpus, f"{gpus:,} GPUs, switches with {ports} ports", words)


def _power(kw: float) -> str:
    return f"{kw:.2g} kW" if kw < 100 else f"{kw / 1000:.2g} MW"


def _minutes(minutes: float) -> str:
    if minutes < 120:
        return f"{minutes:.0f} minutes"
    return f"{minutes / 60:.0f} hours" if minutes < 48 * 60 else f"{minutes / 60 / 24:.0f} days"
