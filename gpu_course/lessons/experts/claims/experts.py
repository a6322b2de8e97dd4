"""What models with experts hold, compute and send: models for lesson 28, from shapes and bytes."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.lessons.experts.shapes import MODELS, Model
from gpu_course.units import GB

BILLION = 1e9
SCALED_EACH, SCALE_BYTES = 128, 4
"""So many numbers in FP8 share a scale of so many bytes."""
HEAD_BYTES = 16
"""DeepEP counts them for each copy of a token that is dispatched."""
BF16_BYTES = 2


# What a model holds


@model(name=MODELS)
def billion_parameters(name: Model, tables: float) -> float:
    """Returns the parameters of a model, in 10^9.

    Args:
        name: the model.
        tables: of its input and its output table, how many the source counts.
    """
    return name.parameters(int(tables)) / BILLION


@model(name=MODELS)
def billion_active(name: Model, tables: float) -> float:
    """Returns the parameters that one token uses, in 10^9.

    Args:
        name: the model.
        tables: of its input and its output table, how many the source counts.
    """
    return name.active(int(tables)) / BILLION


@model(name=MODELS)
def billion_of_next(name: Model, join: bool) -> float:
    """Returns the parameters, in 10^9, of a layer that predicts one token more; tables are shared.

    Args:
        name: the model.
        join: whether the product counts that joins two inputs of the layer to one.
    """
    layer = name.attention.weights(name.hidden) + name.experts * (name.expert + name.hidden)
    layer += name.matrices * name.hidden * name.shared + join * 2 * name.hidden**2
    return layer / BILLION


# What a step computes


@model(name=MODELS)
def teraflops(name: Model, tokens_per_s: float, sequence: float, further: float) -> float:
    """Returns TFLOP/s of one GPU: the FLOP of a token, from shapes, times its tokens per second.

    Args:
        name: the model.
        tokens_per_s: that were trained, per GPU.
        sequence: tokens of one.
        further: tokens that are predicted beyond the next.
    """
    return name.flop_per_token(int(sequence), int(further)) * tokens_per_s / 1e12


@model()
def unchanged_rate(value: float) -> float:
    """Returns a rate once more: what is computed has not changed."""
    return value


# What it costs


@model()
def added_up(first: float, second: float, third: float) -> float:
    """Returns a sum of three."""
    return first + second + third


@model()
def rented(thousand_hours: float, dollars: float) -> float:
    """Returns what hours cost, in millions of dollars."""
    return thousand_hours * dollars / 1000


@model()
def thousand_gpu_hours(thousand_per_trillion: float, trillions: float) -> float:
    """Returns GPU hours, in thousands, of so many tokens."""
    return thousand_per_trillion * trillions


@model()
def days_on(thousand_hours: float, gpus: float) -> float:
    """Returns the days that GPU hours take on many GPUs."""
    return thousand_hours * 1000 / gpus / 24


# What crosses the wire


def dispatched_bytes(picks: float, hidden: float) -> float:
    """Returns the bytes of picks in FP8: a copy of the token's numbers, their scales, a head."""
    return picks * (hidden + hidden / SCALED_EACH * SCALE_BYTES + HEAD_BYTES)


def combined_bytes(picks: float, hidden: float) -> float:
    """Returns the bytes of what experts give back for picks, in 16 bits."""
    return picks * hidden * BF16_BYTES


@model()
def dispatch_gb_per_s(picks: float, hidden: float, microseconds: float) -> float:
    """Returns the bandwidth of a dispatch as DeepEP counts it: one copy for each pick."""
    return dispatched_bytes(picks, hidden) / (microseconds * 1e-6) / GB


@model()
def combine_gb_per_s(picks: float, hidden: float, microseconds: float) -> float:
    """Returns the bandwidth of a combine as DeepEP counts it: one copy for each pick."""
    return combined_bytes(picks, hidden) / (microseconds * 1e-6) / GB


@model()
def dispatch_microseconds(picks: float, hidden: float, leaving: float, gb_per_s: float) -> float:
    """Returns the least time of a dispatch: what leaves by a link, over the link's rate.

    Args:
        picks: copies of tokens that a rank hands out.
        hidden: width of a token.
        leaving: share of the copies that take this link.
        gb_per_s: of the link.
    """
    return leaving * dispatched_bytes(picks, hidden) / (gb_per_s * GB) * 1e6


@model()
def combine_microseconds(dispatch: float, hidden: float) -> float:
    """Returns the time of a combine, if it is a dispatch with other bytes."""
    return dispatch * combined_bytes(1, hidden) / dispatched_bytes(1, hidden)


@model()
def line_gb_per_s(line: float) -> float:
    """Returns the rate of a link, which nothing that crosses it can exceed."""
    return line


@model()
def logical_gb_per_s(line: float, groups: float) -> float:
    """Returns the most that a bandwidth can come to in which what stays at home is counted too.

    Copies go to all groups of ranks alike, and one of `groups` is the sender's own: only the others
    cross the line.

    Args:
        line: rate of the link between groups.
        groups: nodes, or GPUs within one node.
    """
    return line * groups / (groups - 1)


@model()
def other_nodes_gb_per_s(measured: float, nodes: float, other: float) -> float:
    """Returns a bandwidth that counts what stays at home, for another number of nodes.

    The wire is as full as it was; only the share of copies that stay changes.
    """
    wire = measured * (nodes - 1) / nodes
    return wire * other / (other - 1)


@model()
def experts_per_node(nvlink: float, network: float) -> float:
    """Returns for how many experts of a node a token's one copy may be handed on in its time."""
    return nvlink / network


@model()
def experts_in_reach(nodes: float, per_node: float) -> float:
    """Returns how many experts a token can have for the price of one copy to each node."""
    return nodes * per_node
