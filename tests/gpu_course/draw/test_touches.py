"""The picture of who touches what: its words, its text sizes, its marks, and its sameness."""

from __future__ import annotations

import io
from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from matplotlib.patches import Circle, PathPatch, Rectangle
from matplotlib.path import Path

from gpu_course.draw.execution.footprint import footprint, ranges
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import alt_text, figure_html, figure_png
from gpu_course.draw.touches.picture import describe_touches, draw_touches, first_steps
from tests.gpu_course.draw import launches
from tests.gpu_course.draw.readable import assert_readable, texts

WORDS = {
    "ADD_TEN": ["add_ten[1, 8]", "Thread i reads a[i]", "Thread i writes out[i]", "8 threads"],
    "GUARDED": ["guard[1, 12]", "Idle: threads 8 to 11"],
    "ONE_FOR_ALL": ["Thread 2 reads cells 0 to 7 of a", "Idle: threads 0, 1, 3"],
    "ALL_READ_ALL": ["8 threads, 8 cells, 64 accesses"],
    "UNGUARDED": ["Out of bounds in a: threads 8 to 11", "Out of bounds in out: threads 8 to 11"],
    "BLOCKS": ["4 blocks of 4 threads", "Idle: threads 14, 15"],
    "GRID_STRIDE": ["Thread i reads a[i], a[i + 8] and so on, for 8 threads"],
    "REVERSED": ["Thread i reads a[15 - i]", "Thread i writes out[i]"],
    "RACE": ["thread 1 writes out[0]", "Written by several threads: out, cells 0 to 3"],
    "HISTOGRAM": ["thread 5 updates atomically bins[1]"],
    "DENSE": ["64 threads"],
    "BROADCAST": ["reads a[x]", "reads b[y]", "writes out[x, y]", "threads 3,0; 3,1"],
    "LARGE": ["5 blocks of 256 threads", "Idle: threads 1000 to 1279"],
    "WIDE": ["128 threads", "out[0, 0]", "Idle: 128 threads"],
    "UNKNOWN": ["No access to an array was recorded"],
}


@pytest.mark.parametrize("name", launches.EVERY)
def test_the_alt_text_says_what_the_launch_did(name):
    figure = draw_touches(launches.EVERY[name])
    for words in WORDS[name]:
        assert words in alt_text(figure)
    assert alt_text(figure) == describe_touches(launches.EVERY[name])


@pytest.mark.parametrize("name", launches.EVERY)
def test_no_text_is_smaller_than_nine_points_or_outside_the_sheet(name):
    assert_readable(draw_touches(launches.EVERY[name]))


@pytest.mark.parametrize("name", ["UNGUARDED", "BROADCAST", "LARGE"])
def test_the_same_data_gives_the_same_bytes(name):
    def svg():
        buffer = io.BytesIO()
        with p.style():
            draw_touches(launches.EVERY[name]).savefig(
                buffer, format="svg", metadata={"Date": None}
            )
        return buffer.getvalue()

    assert svg() == svg()
    assert figure_png(draw_touches(launches.EVERY[name])) == figure_png(
        draw_touches(launches.EVERY[name])
    )


def test_other_data_gives_another_picture():
    assert figure_png(draw_touches(launches.GUARDED)) != figure_png(
        draw_touches(launches.UNGUARDED)
    )


def test_a_reader_s_matplotlib_settings_neither_change_nor_matter():
    before = figure_png(draw_touches(launches.ADD_TEN))
    with matplotlib.rc_context({"font.size": 30, "hatch.linewidth": 5, "axes.facecolor": "k"}):
        kept = dict(matplotlib.rcParams)
        assert figure_png(draw_touches(launches.ADD_TEN)) == before
        assert dict(matplotlib.rcParams) == kept


def discs(figure, colour):
    wanted = matplotlib.colors.to_rgba(colour)
    return [c for c in figure.findobj(Circle) if c.get_facecolor() == wanted and c.zorder == 4]


def test_idle_threads_are_grey_and_dashed():
    figure = draw_touches(launches.GUARDED)
    assert len(discs(figure, p.ACTIVE)) == 8
    assert len(discs(figure, p.IDLE)) == 4
    assert all(disc.get_linestyle() != "solid" for disc in discs(figure, p.IDLE))


def cells(figure, edge):
    wanted = matplotlib.colors.to_rgba(edge)
    return [r for r in figure.findobj(Rectangle) if r.get_edgecolor() == wanted and r.zorder == 3]


def test_accesses_out_of_bounds_become_hatched_ghosts_with_their_index():
    figure = draw_touches(launches.UNGUARDED)
    ghosts = [cell for cell in cells(figure, p.CONFLICT) if cell.get_hatch()]
    # Four beside each array, and the sample in the legend.
    assert len(ghosts) == 4 + 4 + 1
    shown = [text.get_text() for text in texts(figure)]
    # The hazard recorded the indices tried in a; for out nobody did.
    assert shown.count("10") == 2 and shown.count("?") == 4


def test_cells_written_by_several_threads_are_hatched():
    figure = draw_touches(launches.RACE)
    assert len([c for c in cells(figure, p.CONFLICT) if c.get_hatch()]) == 4 + 1


def test_values_stand_in_the_cells_when_they_are_given():
    figure = draw_touches(launches.ADD_TEN, {"a": np.arange(100, 108), "out": np.zeros(8)})
    shown = [text.get_text() for text in texts(figure)]
    assert "103" in shown and "103" not in [
        t.get_text() for t in texts(draw_touches(launches.ADD_TEN))
    ]


def test_only_the_arrays_named_are_drawn():
    words = alt_text(draw_touches(launches.ADD_TEN, ["out"]))
    assert "out[i]" in words and "a[i]" not in words


def test_it_draws_on_axes_it_is_given():
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4))
    assert draw_touches(launches.ADD_TEN, ax=figure.add_subplot()) is figure


def test_the_html_carries_escaped_alt_text_and_the_picture():
    figure = draw_touches(launches.ADD_TEN)
    figure.alt_text = 'a "quoted" <b>'
    content = figure_html(figure)
    assert content.startswith('<img alt="a &quot;quoted&quot; &lt;b&gt;"')
    assert 'src="data:image/png;base64,iVBOR' in content


def test_the_first_steps_leave_every_array_in_its_place():
    part = first_steps(launches.ADD_TEN, 1)
    arrays = footprint(part).arrays
    assert [(a.name, a.is_written) for a in arrays] == [("a", False), ("out", True)]
    assert len(arrays[0].reads) == 8 and not arrays[1].writes
    assert first_steps(launches.ADD_TEN, 2).touches[1].threads.size == 8
    full, begun = draw_touches(launches.ADD_TEN), draw_touches(first_steps(launches.ADD_TEN, 0))
    assert tuple(full.get_size_inches()) == tuple(begun.get_size_inches())


def test_many_accesses_out_of_bounds_are_counted_instead_of_drawn():
    report = launches.launch(
        "lost", (1,), (20,), launches.touch("a", (2,), "read", [(i, -1) for i in range(20)])
    )
    assert "+12" in [text.get_text() for text in texts(draw_touches(report))]


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([], ""), ([4], "4"), ([1, 2], "1, 2"), ([5, 3, 4], "3 to 5"), ([0, 1, 2, 9], "0 to 2, 9")],
)
def test_ranges(numbers, text):
    assert ranges(numbers) == text


@pytest.mark.parametrize("name", ["ONE_FOR_ALL", "ALL_READ_ALL"])
def test_lines_from_one_thread_to_many_cells_are_level_or_upright(name):
    """So that each can be followed: slanted ones would meet in a knot at the thread."""
    (axes,) = draw_touches(launches.EVERY[name]).axes
    for patch in axes.findobj(PathPatch):
        vertices, codes = patch.get_path().vertices, patch.get_path().codes
        steps = np.abs(np.diff(vertices, axis=0))[codes[1:] == Path.LINETO]
        assert (steps.min(axis=1) < 1e-9).all()


def test_no_two_combs_share_a_rail():
    (axes,) = draw_touches(launches.ALL_READ_ALL).axes
    rails = [
        patch.get_path().vertices[2, 1]
        for patch in axes.findobj(PathPatch)
        if len(patch.get_path().vertices) == 20
    ]
    assert len(rails) == len(set(rails)) == 8


def test_blocks_that_write_each_into_a_tile_of_its_own_are_no_conflict():
    report = launches.launch(
        "tiles",
        (3,),
        (4,),
        replace(
            launches.touch("tile", (4,), "write", [(t, t % 4) for t in range(12)]), space="shared"
        ),
        launches.touch("out", (12,), "write", launches.same(12)),
    )
    tile, out = footprint(report).arrays
    assert (tile.of, tile.contested, len(tile.writes)) == ("block 0", frozenset(), 4)
    assert (out.of, len(out.writes)) == ("", 12)
    assert footprint(report).active == frozenset(range(12))
    assert "several threads" not in describe_touches(report)
    assert "of block 0" in " ".join(t.get_text() for t in texts(draw_touches(report)))


def test_what_one_thread_does_once_is_told_without_a_rule():
    report = launches.launch("one", (1,), (4,), launches.touch("out", (4,), "write", [(2, 2)]))
    assert "Thread 2 writes out[2]." in describe_touches(report)
