"""Each picture of the course, on data as lessons give it, can be read in a panel of 700 pixels."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from functools import partial
from types import ModuleType

import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numba import cuda, float32

from gpu_course import claims, draw, lessons, simulate
from gpu_course.claims.pictures import draw_forecasts
from gpu_course.draw.execution.banks import draw_banks
from gpu_course.draw.execution.divergence import draw_divergence
from gpu_course.draw.execution.intervals import View as Intervals
from gpu_course.draw.execution.intervals import draw_intervals
from gpu_course.draw.execution.launch_grid import draw_launch_grid
from gpu_course.draw.execution.ownership import Trouble, draw_around, draw_ownership
from gpu_course.draw.execution.sectors import MAX_DRAWN, Request, draw_sectors
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.palette import blank_figure, sheet
from gpu_course.draw.paper.picture import alt_text
from gpu_course.draw.steps.parts import View
from gpu_course.draw.steps.picture import draw_step
from gpu_course.draw.touches.picture import draw_touches, first_steps
from gpu_course.draw.traffic import draw_traffic
from gpu_course.draw.training.memory_ledger import draw_live
from gpu_course.draw.training.pipelines import draw_pipeline
from gpu_course.draw.training.schedules import draw_schedule
from gpu_course.draw.training.training_runs import draw_losses
from gpu_course.lessons.pipelines.shows import run_of
from gpu_course.measure.pipelines.orders import zb_h2
from gpu_course.measure.pipelines.timing import Costs
from gpu_course.measure.pipelines.timing import simulate as simulate_pipeline
from gpu_course.notebook.own.pipelines import picture_of, steps_of
from simt.stepping import record
from tests.gpu_course.claims.test_pictures import LESSONS, VERDICT
from tests.gpu_course.draw import launches
from tests.gpu_course.draw.examples import examples
from tests.gpu_course.draw.kernels import (
    behind_the_guard,
    blocks_2d,
    numbers,
    reverse,
    turn_square,
    turn_wide,
    zeros,
)
from tests.gpu_course.draw.readable import assert_readable, texts
from tests.gpu_course.draw.spoken import stumbles
from tests.lessons.meshes import pictures as meshes

MIB = 2**20
GIB = 2**30


PARTS = {
    "parameters": 14 * GIB,
    "optimizer states": 28 * GIB,
    "gradients": 14 * GIB,
    "activations": 30 * GIB,
    "temporaries": 2 * GIB,
}
SCHEDULE = [
    *(("keep input" if s % 3 == 0 else "forward", s) for s in range(9)),
    *((word, s) for s in reversed(range(9)) for word in ("save all", "backward")),
]
FALLING = [4.9 - 0.02 * k for k in range(60)]


def turn_around() -> Figure:
    recording = record(reverse, ("t", "tile"))[1, 64](zeros(64), numbers(64))
    return draw_step(recording, len(recording.track((0, 1))) - 1, (0, 1))


def told() -> Figure:
    recording = record(reverse, ("t", "tile"))[2, 64](zeros(128), numbers(128))
    view = View(costs=False, threads=(0, 63), array="tile", cell=63)
    return draw_step(recording, len(recording.track((0, 1))) - 1, (0, 1), view=view)


def guarded() -> Figure:
    recording = record(behind_the_guard, ("t", "size"))[1, 8](zeros(8), numbers(8), 6)
    return draw_step(recording, 3, view=View(costs=False))


def wrong_axes() -> Figure:
    report = simulate(blocks_2d)[(3, 3), (4, 2)](zeros(5, 10), zeros(5, 10), zeros(10), 5, 10)
    return draw_touches(report)


def pieces(out, a, size):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < size:
        tile[t] = a[i]
    cuda.syncthreads()
    if i < size:
        out[i] = tile[t]


def table(out, a):
    x, y = cuda.grid(2)
    if x < a.shape[1] and y < a.shape[0] and x != 35:
        out[y, x] = a[y, x]


def past_the_table(out, a):
    x, y = cuda.grid(2)
    out[y, x] = a[y, x]


def past_the_end(out, a):
    i = cuda.grid(1)
    out[i] = a[i]


def parting(out, a, size):
    i = cuda.grid(1)
    if i < size:
        for k in range(i % 3):
            out[i] = a[i] * k + a[(i + a.shape[0] // 2) % a.shape[0]]


def square_in_turn(out, a):
    tile = cuda.shared.array((16, 16), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = a[y, x]
    out[y, x] = tile[x, y]


PARTED = record(parting)[1, 50](zeros(50), numbers(50), 44)
TURNED = record(square_in_turn)[1, (16, 16)](zeros(16, 16), numbers(16, 16))
PAST_TABLE = simulate(past_the_table)[(3, 3), (16, 16)](zeros(44, 40), numbers(44, 40))
PAST_END = simulate(past_the_end)[2, 64](zeros(100), numbers(100))
NAMED_AT_LENGTH = simulate(past_the_end)[1, 128](zeros(128), numbers(128))
LONG = simulate(pieces)[2, 64](zeros(100), numbers(100), 100)
LARGE = simulate(table)[(3, 3), (16, 16)](zeros(44, 40), numbers(44, 40))

PICTURES: dict[str, Callable[[], Figure]] = {
    **{
        f"draw_touches {name}": lambda report=report: draw_touches(report)
        for name, report in launches.EVERY.items()
    },
    "draw_touches wrong axes": wrong_axes,
    "draw_touches a thread followed": lambda: draw_touches(
        first_steps(launches.REVERSED, 2, 5), follow=4
    ),
    **{
        f"draw_around {name}": lambda report=report, trouble=trouble: draw_around(report, trouble)
        for name, report, trouble in [
            (
                "a vector",
                LONG,
                Trouble("out", 70, "30 of 100 cells are wrong", frozenset({70, 75})),
            ),
            ("the end", LONG, Trouble("a", 99, "OutOfBoundsError: a[100] is outside (100,)")),
            ("a tile", LONG, Trouble("tile", 5, "tile[5] races", frozenset({5}), "a race")),
            ("a table", LARGE, Trouble("out", 40 * 33 + 38, "wrong", frozenset({40 * 33 + 38}))),
            ("past a table", PAST_TABLE, Trouble("a", 39, "a[0, 40] is outside")),
            ("past the end", PAST_END, Trouble("a", 99, "a[100] is outside")),
        ]
    },
    "draw_ownership blocks": lambda: draw_ownership(launches.BLOCKS, "out"),
    "draw_ownership matrix": lambda: draw_ownership(launches.BROADCAST, "out"),
    "draw_ownership wide": lambda: draw_ownership(launches.WIDE, "out"),
    "draw_ownership long names": lambda: draw_ownership(NAMED_AT_LENGTH, "out"),
    **{
        f"draw_launch_grid {grid} {block}": lambda grid=grid, block=block, size=size: (
            draw_launch_grid(grid, block, size)
        )
        for grid, block, size in [
            (1, (6, 4), (5, 3)),
            (3, 4, 10),
            ((3, 3), (4, 2), (10, 5)),
            ((1, 1), (12, 8), (10, 5)),
            ((2, 2), (9, 4), (10, 5)),
            ((10, 1), (1, 8), (10, 5)),
            (40, 1, 40),
            (3, 16, 40),
            (1, 256, None),
            ((1, 1), (32, 8), None),
        ]
    },
    "draw_banks stride 2": lambda: draw_banks([2 * lane for lane in range(32)]),
    "draw_banks one word for two": lambda: draw_banks([lane // 2 for lane in range(32)]),
    "draw_banks a column": lambda: draw_banks([32 * lane for lane in range(32)]),
    "draw_intervals guard": lambda: draw_intervals(
        record(behind_the_guard)[1, 8](zeros(8), numbers(8), 6), "tile"
    ),
    "draw_intervals square": lambda: draw_intervals(
        record(turn_square)[1, (4, 4)](zeros(4, 4)), "tile"
    ),
    "draw_intervals wide": lambda: draw_intervals(
        record(turn_wide)[1, 32](zeros(32), numbers(32)), "tile"
    ),
    "draw_intervals in a view": lambda: draw_intervals(
        TURNED, "tile", view=Intervals(cell=40, only_raced=True)
    ),
    "draw_divergence two warps": lambda: draw_divergence(PARTED, (0, 1)),
    "draw_divergence marked": lambda: draw_divergence(
        PARTED, (1,), marked=(PARTED.steps[-1].line,), mark="counted: splits", most=8
    ),
    "draw_sectors stride 2": lambda: draw_sectors(Request(tuple(range(12, 12 + 256, 8)))),
    "draw_sectors one each": lambda: draw_sectors(
        Request(tuple(range(0, 32 * 40, 40)), name="a[i * 10]"), most=MAX_DRAWN
    ),
    "draw_sectors two requests": lambda: draw_sectors(
        Request(tuple(range(32)), 1, "bytes"),
        Request((*[None] * 8, *[64] * 24), 16, "one for all", "write"),
    ),
    "draw_banks named": lambda: draw_banks(
        [32 * lane for lane in range(32)], name="line 120 writes a_long_name_of_a_tile", worst=True
    ),
    "draw_step two warps": turn_around,
    "draw_step told": told,
    "draw_step guarded": guarded,
    "draw_live fits": lambda: draw_live(PARTS, 80 * GIB),
    "draw_live alone": lambda: draw_live({"parameters": 3 * GIB}),
    "draw_schedule": lambda: draw_schedule(SCHEDULE, range(1, 28), budget=20),
    "draw_schedule weighed wrongly": lambda: draw_schedule(
        SCHEDULE,
        range(1, 28),
        budget=20,
        broken="operation 12 (save all 7) rises to 13, the peak so far is 13, and yours is 9",
        at=12,
        claimed=[min(9, rise) for rise in range(1, 28)],
        unit="units",
    ),
    "draw_losses": lambda: draw_losses(
        {"Adam": FALLING, "GaLore, rank 32": [each + 0.1 for each in FALLING]},
        25,
        goal=4.2,
        floor=3.6,
    ),
    **{
        f"draw_pipeline {order} {ranks} {microbatches}": (
            lambda order=order, ranks=ranks, count=microbatches: (
                picture_of(run_of(order, ranks, count)).figure
            )
        )
        for order, ranks, microbatches in [
            ("GPipe", 4, 8),
            ("1F1B", 1, 1),
            ("1F1B", 8, 24),
            ("interleaved", 4, 8),
            ("ZBVZeroBubble", 4, 8),
        ]
    },
    "draw_pipeline halves apart": lambda: (
        picture_of(simulate_pipeline(zb_h2(4, 10), Costs(comm=0.1))).figure
    ),
    "draw_pipeline without memory": lambda: draw_pipeline(
        steps_of(run_of("interleaved", 3, 6)), "no memory", until=40.0
    ),
    **{f"draw_mesh {name}": partial(meshes.in_space, name) for name in meshes.MESHES},
    **{f"draw_devices {name}": partial(meshes.in_nodes, name) for name in meshes.MESHES},
    "draw_forecasts": lambda: draw_forecasts(LESSONS, VERDICT),
    "draw_traffic": lambda: draw_traffic({(0, 1): 6144, (1, 0): 6144}, 2, "your all_reduce"),
}


LESSONS_OWN = {name: draw for name, _, draw in examples()}
DRAWN = {picture.__name__ for _, picture, _ in examples()}


def pictures_of(package: ModuleType) -> set[str]:
    """Returns the functions of a package that draw a picture of their own."""
    return {
        name
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        for name, function in inspect.getmembers(
            importlib.import_module(module.name), inspect.isfunction
        )
        if name.startswith("draw_")
        and function.__module__ == module.name
        and "Figure" in str(function.__annotations__.get("return"))
    }


def test_no_picture_is_left_out() -> None:
    # These three are what draw_touches chooses from.
    chosen = {"draw_flow", "draw_map", "draw_condensed"}
    shared = pictures_of(draw) | pictures_of(claims)
    assert shared - chosen == {name.split()[0] for name in PICTURES}
    assert pictures_of(lessons) == DRAWN


@pytest.mark.parametrize("name", PICTURES | LESSONS_OWN)
def test_a_picture_can_be_read_in_half_a_window(name: str) -> None:
    figure = (PICTURES | LESSONS_OWN)[name]()
    assert_readable(figure)
    assert alt_text(figure)
    assert stumbles(alt_text(figure)) == []
    assert figure.get_size_inches()[0] * p.CSS_PIXELS_PER_INCH <= 700


@pytest.mark.parametrize("name", ["draw_losses", "draw_schedule"])
def test_a_picture_says_what_to_see(name: str) -> None:
    figure = PICTURES[name]()
    assert any(axes.get_title(loc="left") for axes in figure.axes)
    assert all(axes.get_xlabel() for axes in figure.axes[-1:])


def test_a_thread_s_name_does_not_fill_its_cell_from_edge_to_edge() -> None:
    figure = draw_ownership(NAMED_AT_LENGTH, "out")
    figure.draw_without_rendering()
    (name,) = (text for text in texts(figure) if text.get_text() == "0:127")
    cell = max(
        box.get_window_extent().width
        for box in figure.findobj(Rectangle)
        if box.get_window_extent().contains(*name.get_window_extent().get_points().mean(axis=0))
        and box.get_window_extent().width < 100
    )
    assert name.get_window_extent().width < cell - 6


def test_no_picture_of_a_launch_prints_the_rule_or_the_guard() -> None:
    """The puzzles that follow it ask for both."""
    for size in (None, 10, (10, 5)):
        grid, block = (3, 4) if size != (10, 5) else ((3, 3), (4, 2))
        figure = draw_launch_grid(grid, block, size)
        said = " ".join(text.get_text() for text in texts(figure)) + alt_text(figure)
        for given_away in ("blockDim", "*", "<", "guard"):
            assert given_away not in said


# What the checks must find


def cut() -> Figure:
    figure, axes = sheet(4, 1)
    axes.text(3.5, 0.5, "a legend that is cut", fontsize=9)
    return figure


def crossing() -> Figure:
    figure, axes = sheet(4, 1)
    axes.add_artist(Rectangle((1, 0.3), 0.3, 0.3))
    axes.text(1.15, 0.45, "-12.625", fontsize=9, ha="center", va="center")
    return figure


def small() -> Figure:
    figure, axes = blank_figure(12, 1)
    axes.set_axis_off()
    axes.text(0.5, 0.5, "nine points on a wide sheet", fontsize=9)
    return figure


def over() -> Figure:
    figure, axes = sheet(4, 1)
    axes.text(1.0, 0.5, "one word", fontsize=9)
    axes.text(1.2, 0.5, "another", fontsize=9)
    return figure


@pytest.mark.parametrize(
    "planted",
    [
        "chunks: 4: 4.76 ms in all.",
        "10 kernels; 53 µs in all  ·  kernels run for 38% of it.",
        "Block 0 wrote cells 0. Block 1 wrote cell 1.",
        "C has 9 tokens in pages 8.",
        "The whole of k is loaded 1 times so far.",
        "The frontier goes from 4.7 GiB and 1.59e+03 s to 244.2 GiB and 6.88 s.",
        "host: 7 events, outermost cudaLaunchKernel ....",
        "The host waits for 3 µs",
        "rank 0: 16 actions from 0 to 33\nrank 1: 16 actions from 1 to 31.",
    ],
)
def test_an_alt_text_over_which_a_voice_stumbles_is_found(planted: str) -> None:
    assert len(stumbles(planted)) == 1


def test_an_alt_text_that_can_be_heard_is_left_alone() -> None:
    for text in (
        "Block 0 wrote cell 0. Block 1 wrote cells 1 to 3. No thread wrote cells 4, 5.",
        "Rank 1 sends 48 KiB to 2.\nThread 1 writes out[0]; unit 1 was used: 0.5 of 1.00.",
        "backprop: at most 172 KiB, then parameters 4 KiB.\nMessage 1 is ready at 1e-05 s.",
    ):
        assert stumbles(text) == []


@pytest.mark.parametrize("planted", [cut, crossing, small, over])
def test_a_planted_fault_is_found(planted: Callable[[], Figure]) -> None:
    with pytest.raises(AssertionError):
        assert_readable(planted())
