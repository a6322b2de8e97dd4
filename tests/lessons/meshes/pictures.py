"""Examples of the pictures of a mesh, drawn by tests/gpu_course/draw/test_every_picture.py."""

from __future__ import annotations

from matplotlib.figure import Figure

from gpu_course.draw.training.meshes import MeshData, draw_devices, draw_mesh
from gpu_course.lessons.meshes.shows import mesh_data, mesh_of
from gpu_course.measure.meshes import Cluster

MESHES: dict[str, tuple[str, dict[str, int], str, Cluster]] = {
    "one rank": ("tp", {"tp": 1}, "tp", Cluster(8)),
    "a line": ("pp", {"pp": 8}, "pp", Cluster(4)),
    "flat": ("tp dp", {"tp": 8, "dp": 2}, "tp", Cluster(4)),
    "Llama's figure": ("tp cp pp dp", {}, "pp", Cluster(8)),
    "a cube": ("tp pp dp", {"tp": 4, "pp": 4, "dp": 4}, "dp", Cluster(8, 2)),
    "six axes": ("tp ep cp fsdp dp pp", {}, "cp", Cluster(8, 4)),
    "wide": ("tp cp pp dp", {"tp": 8}, "tp", Cluster(8, 4)),
    "many blocks": ("tp cp pp dp", {"dp": 8}, "dp", Cluster(4, 4)),
    "sixteen in a row": ("tp pp", {"tp": 16, "pp": 4}, "pp", Cluster(16)),
    "all in one": ("tp pp", {"tp": 8, "pp": 8}, "tp", Cluster(64)),
}


def example(name: str) -> MeshData:
    order, sizes, coloured, cluster = MESHES[name]
    return mesh_data(mesh_of(order, **sizes), coloured, cluster)


def in_space(name: str) -> Figure:
    data = example(name)
    return draw_mesh(data, picked=data.ranks // 2 if data.ranks > 8 else None)


def in_nodes(name: str) -> Figure:
    data = example(name)
    return draw_devices(data, picked=data.ranks // 2 if data.ranks > 8 else None)
