"""What ports and counts say of the networks of large clusters."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.lessons.collectives import fat_trees as trees
from gpu_course.lessons.collectives.fat_trees import fat_tree

MINUTES_A_YEAR = 365 * 24 * 60
SECONDS_A_DAY = 24 * 60 * 60


@model()
def fat_tree_switches(gpus: float, ports: float) -> float:
    """Returns the switches of the smallest fat tree with full bandwidth.

    >>> fat_tree_switches(800, 40)
    60
    """
    return sum(fat_tree(int(gpus), int(ports)).switches)


@model()
def fat_tree_level(gpus: float, ports: float, level: float) -> float:
    """Returns the switches of one level of that tree; the first is where the GPUs are.

    >>> fat_tree_level(800, 40, 1)
    40
    """
    return fat_tree(int(gpus), int(ports)).switches[int(level) - 1]


@model()
def fat_tree_reach(ports: float, levels: float) -> float:
    """Returns the most GPUs that so many levels join with full bandwidth.

    >>> fat_tree_reach(64, 3)
    65536
    """
    return trees.most_gpus(int(ports), int(levels))


@model()
def times_the_cables(levels: float, fewer: float) -> float:
    """Returns the cables of a network over those of one with fewer levels: one each GPU and level.

    >>> times_the_cables(4, 2)
    2.0
    """
    return levels / fewer


@model()
def percent_to_the_gpus(levels: float) -> float:
    """Returns how many percent of the cables end at a GPU.

    >>> percent_to_the_gpus(2)
    50.0
    """
    return 100 / levels


@model()
def minutes_to_the_first_failure(links: float, years: float) -> float:
    """Returns the mean minutes until the first of many links fails.

    Failures that do not know of each other add up their rates, so the mean time of n links is an
    n-th of that of one.

    >>> minutes_to_the_first_failure(1, 1)
    525600.0
    """
    return years * MINUTES_A_YEAR / links


@model()
def mw_of_computers(gpus: float, gpu_w: float, beside_w: float, more_percent: float) -> float:
    """Returns the megawatts of GPUs, of what is beside each in its server, and of the rest.

    >>> mw_of_computers(1000, 700, 300, 10)
    1.1
    """
    return gpus * (gpu_w + beside_w) * (1 + more_percent / 100) / 1e6


@model()
def mw_of_nodes(gpus: float, per_node: float, watts: float) -> float:
    """Returns the megawatts that so many watts in each node come to.

    >>> mw_of_nodes(8000, 8, 1000)
    1.0
    """
    return gpus / per_node * watts / 1e6


@model()
def gpu_days(gpus: float, seconds: float) -> float:
    """Returns the days of one GPU that are lost when all of them lose so many seconds.

    >>> gpu_days(1000, 864)
    10.0
    """
    return gpus * seconds / SECONDS_A_DAY


@model()
def seconds_over_a_port(gb: float, gbit_per_s: float) -> float:
    """Returns the seconds that so many gigabytes take over one port.

    >>> seconds_over_a_port(100, 800)
    1.0
    """
    return gb / (gbit_per_s / 8)
