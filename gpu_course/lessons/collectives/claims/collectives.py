"""What alpha, a rate and a count of steps say of collectives that somebody measured.

Each model gets a few measurements of a source as its arguments and predicts another one. A bus
bandwidth is bytes over seconds times 2 (n - 1) / n, so at one number of ranks its inverse is a
straight line over 1 / bytes, as the time is over bytes; the factor only scales both constants.
"""

from __future__ import annotations

import math

from gpu_course.claims.models import model
from gpu_course.measure.alpha_beta import Link, levels, through
from gpu_course.units import GB, MIB

PER_NODE = 8


def _between(size: float, small: tuple[float, float], large: tuple[float, float]) -> float:
    """Seconds at a size, on the line through two measured (bytes, seconds)."""
    return through(small, large).step_s(size)


@model()
def bus_gb_per_s_between(mib: float, at_25_mib: float, at_4_gib: float) -> float:
    """Returns the bus bandwidth at a size, from alpha and rate through two sizes' bandwidths.

    >>> round(bus_gb_per_s_between(25, 273, 471)), round(bus_gb_per_s_between(4096, 273, 471))
    (273, 471)
    """
    ends = [
        (size * MIB, size * MIB / (rate * GB)) for size, rate in ((25, at_25_mib), (4096, at_4_gib))
    ]
    return mib * MIB / _between(mib * MIB, ends[0], ends[1]) / GB


@model()
def us_between(mib: float, at_256_bytes: float, at_64_mib: float) -> float:
    """Returns the microseconds at a size, on the line through those of 256 bytes and of 64 MiB."""
    return _between(mib * MIB, (256, at_256_bytes), (64 * MIB, at_64_mib))


@model()
def halves_together(reduce_scatter: float, all_gather: float) -> float:
    """Returns the time of an all-reduce that is a reduce-scatter and then an all-gather."""
    return reduce_scatter + all_gather


@model()
def as_long_as_halves(together: float) -> float:
    """Returns the same where a source prints the sum of its halves alone."""
    return together


@model()
def ring_of_two_latencies_us(nodes: float, one_node: float, two_nodes: float) -> float:
    """Returns the microseconds of a tiny all-reduce around a ring of nodes of 8.

    2 (n - 1) steps, 2 (k - 1) of them from node to node: the first time gives the latency inside a
    node, the second that between two.

    >>> round(ring_of_two_latencies_us(2, 50, 100))
    100
    """
    inside = one_node / _inside_steps(1)
    between = (two_nodes - _inside_steps(2) * inside) / _steps_between(2)
    return _inside_steps(nodes) * inside + _steps_between(nodes) * between


def _steps_between(nodes: float) -> float:
    return 2 * (nodes - 1)


def _inside_steps(nodes: float) -> float:
    return 2 * (nodes * PER_NODE - 1) - _steps_between(nodes)


@model()
def tree_of_one_more_level_us(before: float, two_nodes: float, four_nodes: float) -> float:
    """Returns the microseconds of a tree on four nodes: what two take, and one more level.

    Args:
        before: on two nodes.
        two_nodes, four_nodes: of 256 bytes, whose difference is one level.
    """
    return before + four_nodes - two_nodes


@model()
def ring_network_steps(nodes: float) -> float:
    """Returns how many steps of a ring's all-reduce go from node to node."""
    return _steps_between(nodes)


@model()
def tree_network_steps(nodes: float) -> float:
    """Returns how many steps of a tree's all-reduce go from node to node."""
    return 2 * levels(int(nodes))


@model()
def switch_gb_per_s(ring: float, ranks: float) -> float:
    """Returns the bus bandwidth where a switch adds, if each link is as busy as in a ring.

    A ring sends 2 (n - 1) / n of the buffer over each link; to a switch that adds and to which each
    rank also sends its finished part goes (n + 1) / n.
    """
    return ring * (2 * (ranks - 1) / ranks) / ((ranks + 1) / ranks)


@model()
def bus_of_seconds(giga_bytes: float, ranks: float, milliseconds: float) -> float:
    """Returns the bus bandwidth in GB/s of an all-reduce that took so long."""
    return giga_bytes / (milliseconds * 1e-3) * 2 * (ranks - 1) / ranks


@model()
def the_same_again(value: float) -> float:
    """Returns what was measured in another run, or on fewer ranks, as if nothing depended on it."""
    return value


@model()
def bus_gb_per_s_of_nodes(nodes: float, at_2_nodes: float, at_64_nodes: float) -> float:
    """Returns the bus bandwidth of a ring over nodes, from those of 2 and of 64.

    For one size S it is 1 / (n alpha / S + 1 / rate): its inverse is a line over the ranks.

    >>> round(bus_gb_per_s_of_nodes(64, 361.7, 32.9), 1)
    32.9
    """
    line = _line((2, 1 / at_2_nodes), (64, 1 / at_64_nodes))
    return 1 / line.step_s(nodes)


def _line(one: tuple[float, float], other: tuple[float, float]) -> Link:
    slope = (other[1] - one[1]) / (other[0] - one[0])
    return Link(one[1] - slope * one[0], 1 / slope if slope else math.inf)


@model()
def double_tree_gb_per_s(port_gb_per_s: float) -> float:
    """Returns bytes over time of a double tree on large buffers: each port sends 2 S."""
    return port_gb_per_s / 2


@model()
def flag_payload_percent(payload_bytes: float, flag_bytes: float) -> float:
    """Returns how much is payload where each payload is sent with its flag, in %.

    >>> flag_payload_percent(120, 8)
    93.75
    """
    return 100 * payload_bytes / (payload_bytes + flag_bytes)
