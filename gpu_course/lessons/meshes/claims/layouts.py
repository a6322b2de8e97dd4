"""What the layout of a published run says of itself: devices, groups, neighbours, nodes, bytes."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.measure.meshes import Mesh
from gpu_course.units import GB, TERA

AXES = {name: name for name in ("tp", "cp", "pp", "dp", "ep")}
"""Axes by the names that a table of figures has for them."""


@model()
def devices_of_mesh(
    tp: float = 1, cp: float = 1, ep: float = 1, pp: float = 1, dp: float = 1
) -> float:
    """Returns how many devices a mesh of these sizes has."""
    return Mesh.of(tp=int(tp), cp=int(cp), ep=int(ep), pp=int(pp), dp=int(dp)).ranks


@model()
def nodes_of_mesh(
    per_node: float, tp: float = 1, cp: float = 1, ep: float = 1, pp: float = 1
) -> float:
    """Returns how many nodes one replica of a mesh fills, with so many devices to a node."""
    return devices_of_mesh(tp=tp, cp=cp, ep=ep, pp=pp) / per_node


@model(axis=AXES)
def neighbour_of_0(axis: str, tp: float, cp: float, pp: float, dp: float) -> float:
    """Returns the rank after rank 0 on an axis; the axes are ordered as they stand here."""
    return Mesh.of(tp=int(tp), cp=int(cp), pp=int(pp), dp=int(dp)).group(0, axis)[1]


@model(axis=AXES)
def groups_of_axis(axis: str, tp: float, dp: float, pp: float) -> float:
    """Returns how many groups an axis has."""
    return len(Mesh.of(tp=int(tp), dp=int(dp), pp=int(pp)).groups(axis))


@model()
def mebitokens_of_batch(sequence: float, per_replica: float, dp: float) -> float:
    """Returns the tokens of a batch, in 2^20.

    Args:
        sequence: tokens of one.
        per_replica: sequences that each data-parallel rank takes.
        dp: data-parallel ranks.
    """
    return sequence * per_replica * dp / 2**20


@model()
def sequences_of_batch(per_replica: float, dp: float) -> float:
    """Returns the sequences of a batch."""
    return per_replica * dp


@model()
def million_tokens_of_batch(sequence: float, sequences: float) -> float:
    """Returns the tokens of a batch, in 10^6."""
    return sequence * sequences / 1e6


@model()
def thousand_tokens_per_device(
    sequence: float, sequences: float, pp: float, ep: float, dp: float
) -> float:
    """Returns the tokens of a batch over all devices, in 10^3."""
    return sequence * sequences / devices_of_mesh(pp=pp, ep=ep, dp=dp) / 1e3


@model()
def terabytes_of_replica(billion_parameters: float, parameter_bytes: float) -> float:
    """Returns what all ranks of a replica hold together, in TB."""
    return billion_parameters * 1e9 * parameter_bytes / TERA


@model()
def gigabytes_of_device(
    billion_parameters: float, parameter_bytes: float, pp: float, ep: float
) -> float:
    """Returns what a rank of a replica holds where all is cut evenly, in GB."""
    held = billion_parameters * 1e9 * parameter_bytes
    return held / devices_of_mesh(pp=pp, ep=ep) / GB


@model()
def gigabytes_between_pods(billion_parameters: float, gradient_bytes: float, hosts: float) -> float:
    """Returns the gradients that one host sends to its like in another replica, in GB."""
    return billion_parameters * 1e9 * gradient_bytes / hosts / GB
