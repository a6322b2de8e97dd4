"""The picture of one step: its words, text sizes and marks, and its sameness on both papers."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.ink import svg_hatch, svg_html
from gpu_course.draw.paper.picture import alt_text, figure_png
from gpu_course.draw.steps.picture import draw_step, frame_of, step_svg
from gpu_course.draw.steps.step_texts import describe_step, list_steps, number_text
from simt.report import Recording
from simt.stepping import record
from tests.gpu_course.draw.readable import assert_readable
from tests.simt.observe.stepped import write_kernels

STROKES = svg_hatch(p.CONFLICT_HATCH, p.CONFLICT)
DOTS = svg_hatch(p.UNWRITTEN_HATCH, p.RULE)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recording]:
    kernels = write_kernels(tmp_path_factory.mktemp("kernels"))

    def launch(name: str, watch: tuple[str, ...], grid: int, block: int, *more: Any) -> Recording:
        size = 128
        dtype = np.float32 if name == "conflicts" else np.int64
        arrays = np.zeros(size, dtype), np.arange(size, dtype=dtype)
        return record(f"{kernels}:{name}", watch)[grid, block](*arrays, *more)

    bins = np.zeros(2, np.int64)
    return {
        "diverge": launch("diverge", (), 1, 6),
        "turns": launch("turns", ("i", "total", "k"), 1, 12, 12),
        "tile": launch("tile", ("t", "total", "s"), 2, 8, 11),
        "race": launch("tile_without_barrier", ("t", "total", "s"), 1, 8, 8),
        "conflicts": launch("conflicts", ("t", "s"), 1, 64),
        "twice": launch("from_nowhere", (), 1, 8),
        "count": record(f"{kernels}:count")[1, 8](bins, np.arange(8)),
    }


# (recording, warps, a piece of the line the step is at, what the alt text says)
WORDS = [
    ("diverge", (0,), "if i % 3 == 0", ["true for lanes 0, 3: they diverge", "all 6 lanes active"]),
    ("diverge", (0,), "x = x + 100", ["2 lanes of 6 active, 0, 3", "x is 2 to 106"]),
    ("turns", (0,), "for k in range", ["true for lanes 1 to 3, 5 to 7, 9 to 11"]),
    ("tile", (0,), "s[t] = a[i]", ["8 lanes read a[0 to 7]: 2 sectors", "(shared memory)"]),
    ("tile", (1,), "s[t] = a[i]", ["Block (1,0,0) warp 0: 3 lanes of 8 active, 0 to 2"]),
    ("tile", (0, 1), "cuda.syncthreads()", ["The block meets at a barrier.", "block (1,0,0)"]),
    ("race", (0,), "total += s[t - 1]", ["RaceError: s[0]", "thread 1 reads it"]),
    ("conflicts", (0,), "s[t * 4] =", ["8 sectors where 4 would do", "4 wavefronts where 1"]),
    ("count", (0,), "cuda.atomic.add", ["8 lanes update bins[0, 1]"]),
]


def number_of(recording: Recording, warps: tuple[int, ...], line: str) -> int:
    """The first step of a track whose line contains a text."""
    for number, index in enumerate(recording.track(warps)):
        step = recording.steps[index]
        if line in recording.texts[step.function].lines[step.line]:
            return number
    raise AssertionError(f"no step at {line}")


@pytest.mark.parametrize(("name", "warps", "line", "words"), WORDS)
def test_the_alt_text_says_what_the_step_did(
    recordings: dict[str, Recording],
    name: str,
    warps: tuple[int, ...],
    line: str,
    words: list[str],
) -> None:
    recording = recordings[name]
    number = number_of(recording, warps, line)
    said = alt_text(draw_step(recording, number, warps))
    assert said == describe_step(recording, number, warps)
    for word in (*words, f"step {number + 1} of {len(recording.track(warps))}", line):
        assert word.lower() in said.lower()


@pytest.mark.parametrize("name", ["diverge", "turns", "tile", "race", "conflicts", "count"])
def test_no_text_is_smaller_than_nine_points_or_outside_the_sheet(
    recordings: dict[str, Recording], name: str
) -> None:
    recording = recordings[name]
    for number in some_steps(recording):
        assert_readable(draw_step(recording, number, (0,)))


def test_the_picture_stands_still_while_it_plays(recordings: dict[str, Recording]) -> None:
    recording = recordings["tile"]
    sizes = {tuple(draw_step(recording, n, (0,)).get_size_inches()) for n in some_steps(recording)}
    assert len(sizes) == 1
    assert frame_of(recording, (0,)) is frame_of(recording, (0,))


def test_the_same_data_gives_the_same_bytes(recordings: dict[str, Recording]) -> None:
    recording = recordings["race"]
    assert figure_png(draw_step(recording, 4)) == figure_png(draw_step(recording, 4))
    assert step_svg(recording, 4, (0,)) == step_svg(recording, 4, (0,))


def svg_of(recording: Recording, number: int, warps: tuple[int, ...] = (0,)) -> ET.Element:
    return ET.fromstring(step_svg(recording, number, warps))


def hatched(svg: ET.Element) -> int:
    """Boxes that are hatched like a conflict."""
    paths = [e for e in svg.iter() if e.get("fill") == STROKES]
    return sum(e.get("d", "").count("M") for e in paths)


def some_steps(recording: Recording) -> list[int]:
    """A step in the middle, and the last but one."""
    steps = len(recording.track((0,)))
    return sorted({steps // 2, steps - 2})


def texts_of(svg: ET.Element) -> list[str]:
    return [e.text or "" for e in svg.iter() if e.tag.endswith("text")]


def fills_of(svg: ET.Element) -> set[str]:
    return {e.get("fill", "") for e in svg.iter() if e.tag.endswith("path")}


@pytest.mark.parametrize("name", ["diverge", "turns", "tile", "race", "conflicts", "count"])
def test_both_papers_say_the_same(recordings: dict[str, Recording], name: str) -> None:
    recording = recordings[name]
    for number in some_steps(recording):
        figure = draw_step(recording, number, (0,))
        drawn = [t.get_text() for t in figure.findobj(matplotlib.text.Text)]
        written = texts_of(svg_of(recording, number))
        # A long row is one text in SVG and several in matplotlib.
        assert "".join("".join(sorted(drawn)).split()) and sorted(
            "".join(" ".join(drawn).split())
        ) == sorted("".join(" ".join(written).split()))


def test_no_lane_state_is_told_by_colour_alone(recordings: dict[str, Recording]) -> None:
    """A hazard is hatched, an idle lane is smaller and dashed, a false condition is hollow."""
    race = recordings["race"]
    struck = svg_of(race, number_of(race, (0,), "total += s[t - 1]"))
    assert {p.CONFLICT_TINT, STROKES} <= fills_of(struck)
    assert hatched(struck) > hatched(svg_of(race, 0))
    split = svg_of(recordings["diverge"], number_of(recordings["diverge"], (0,), "x = x + 100"))
    assert any(e.get("stroke-dasharray") for e in split.iter())
    assert {p.ACTIVE, p.IDLE, p.PAPER} <= fills_of(split)


def test_the_step_shows_lanes_values_and_cells(recordings: dict[str, Recording]) -> None:
    recording = recordings["tile"]
    svg = svg_of(recording, number_of(recording, (1,), "total += s[t - 1]"), (1,))
    rows = [text.split() for text in texts_of(svg)]
    assert ["total"] in rows and ["s[0]"] in rows
    # Block 1 holds a[8], a[9] and a[10]; lanes 1 and 2 have added their left neighbours.
    assert ["17", "19"] in rows
    assert ["8", "9", "10", "?", "?", "?", "?", "?"] in rows


def test_the_sectors_and_banks_of_an_access_are_drawn(recordings: dict[str, Recording]) -> None:
    recording = recordings["conflicts"]
    svg = svg_of(recording, number_of(recording, (0,), "s[t * 4] ="))
    said = " ".join(texts_of(svg))
    assert "global: 32 lanes read" in said and "shared: 32 lanes write" in said
    assert "8 sectors where 4 would do" in said and "4 wavefronts where 1 would do" in said
    # Halves of the sectors are waste, and the crowded banks are hatched like a conflict.
    assert {DOTS, STROKES} <= fills_of(svg)


def test_several_warps_stand_side_by_side(recordings: dict[str, Recording]) -> None:
    svg = svg_of(recordings["tile"], 4, (0, 1))
    assert {"block 0", "block 1"} <= set(texts_of(svg))


def test_an_svg_in_html_carries_its_alt_text() -> None:
    text = svg_html("<svg/>", 'a "quoted" <word>', 2.0)
    assert text.startswith('<img alt="a &quot;quoted&quot; &lt;word&gt;"')
    assert "width:192px" in text and "data:image/svg+xml;base64,PHN2Zy8+" in text


def test_a_list_of_steps_needs_no_picture(recordings: dict[str, Recording]) -> None:
    text = list_steps(recordings["race"], (0,))
    lines = text.splitlines()
    assert lines[0] == "tile_without_barrier[1, 8], warp 0: 8 steps"
    assert lines[-2].split("!")[1].strip().startswith("RaceError: s[0]")
    assert "7/8  total += s[t - 1]" in text
    near = list_steps(recordings["turns"], (0,), around=12)
    assert "4 steps before these" in near and "more steps" in near
    assert len(near.splitlines()) == 2 + 1 + 16 + 1


def test_a_recording_says_what_it_leaves_out(
    tmp_path: Path,
) -> None:
    kernels = write_kernels(tmp_path)
    n = 100 * 64
    recording = record(f"{kernels}:past_the_end", block=7)[100, 64](np.zeros(n), np.zeros(n))
    assert "recorded: blocks 7 to 22 of 100" in list_steps(recording, recording.warps[:1])
    figure = draw_step(recording, 0)
    shown = [t.get_text() for t in figure.findobj(matplotlib.text.Text)]
    assert any("recorded: blocks 7 to 22 of 100" in text for text in shown)


def test_a_launch_that_was_given_up_says_so(
    recordings: dict[str, Recording], tmp_path: Path
) -> None:
    path = tmp_path / "forever.py"
    path.write_text(
        "from numba import cuda\n\n\n@cuda.jit\ndef forever(out):\n    i = cuda.grid(1)\n"
        "    while i >= 0:\n        out[i] += 1\n",
        encoding="utf-8",
    )
    recording = record(f"{path}:forever")[1, 8](np.zeros(8))
    assert not recording.finished
    assert "given up before its end" in list_steps(recording, (0,)).splitlines()
    assert "given up before its end" in step_svg(recording, 0, (0,))
    others = [list_steps(each, (0,)) for each in recordings.values()]
    assert not any("given up" in listed for listed in others)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (np.float32(0.1), "0.1"),
        (-12.375, "-12.38"),
        (1234567, "1.23e6"),
        (float("nan"), "nan"),
        (1e-20, "1e-20"),
        (np.bool_(True), "True"),
        (-1e-200, "~"),
    ],
)
def test_a_value_fits_its_cell(value: Any, text: str) -> None:
    assert number_text(value) == text


def test_only_the_array_that_is_raced_for_is_hatched(recordings: dict[str, Recording]) -> None:
    recording = recordings["twice"]
    number = number_of(recording, (0,), "out[t] = s[t]")
    svg = svg_of(recording, number)
    boxes = [e.get("d", "").count("M") for e in svg.iter() if e.get("fill") == STROKES]
    # The line, 8 lanes over time, 8 words of s, the mark beside the text, the legend: not `out`.
    assert sorted(boxes) == [1, 1, 1, 8, 8]
