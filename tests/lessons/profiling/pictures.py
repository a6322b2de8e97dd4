"""Examples of the pictures of lesson 09."""

from __future__ import annotations

from matplotlib.figure import Figure

from gpu_course.lessons.profiling.pictures import (
    Bar,
    Piece,
    Rate,
    draw_memory,
    draw_segments,
    draw_sweep,
    draw_timeline,
)
from tests.gpu_course.draw.examples import draws

BARS = [
    Bar("host", 0, "cudaLaunchKernel", "call", 0, 5_000),
    Bar("host", 0, "cudaDeviceSynchronize", "wait", 5_000, 70_000),
    Bar("host", 0, "a step of mine with a long name", "mark", 70_000, 100_000),
    Bar("host", 1, "aten::mm", "operator", 72_000, 80_000),
    Bar("host", 2, "aten::resolve_conj", "operator", 74_000, 74_010),
    Bar("stream 7", 0, "ampere_sgemm_128x64_tn", "kernel", 6_000, 70_000),
    Bar("stream 13", 0, "Memcpy HtoD", "copy", 20_000, 34_000),
]


@draws(draw_timeline)
def a_timeline() -> Figure:
    return draw_timeline(BARS, "What runs when")


@draws(draw_memory)
def a_curve() -> Figure:
    live = [100_000, 300_000, 900_000, 400_000, 380_000, 700_000, 1_200_000, 500_000]
    return draw_memory(live, [(1, "step 0"), (5, "step 1")], "Memory taken since the start")


@draws(draw_segments)
def two_segments() -> Figure:
    small = [Piece(300_032, True), Piece(512, True), Piece(2**21 - 300_544, False)]
    large = [
        Piece(3 << 20, True),
        Piece(6 << 20, False),
        Piece(5 << 20, True),
        Piece(6 << 20, False),
    ]
    return draw_segments([small, large], "Segments, and the blocks in them")


@draws(draw_sweep)
def a_sweep() -> Figure:
    rates = [Rate(32, 2e9), Rate(64, 9e9), Rate(128, 4e10), Rate(1024, 1.3e11)]
    return draw_sweep(rates, "Products of square matrices, measured now")
