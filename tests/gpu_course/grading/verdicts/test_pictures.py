"""The picture of a verdict: of what the verdict speaks of, with the guilty cells marked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import alt_text
from gpu_course.errors import CatalogueError
from gpu_course.grading import check
from gpu_course.grading.check import check_here
from gpu_course.grading.kernel import budgets
from gpu_course.grading.kernel.answers import mistake_answer
from gpu_course.grading.kernel.scene import Scene
from gpu_course.grading.verdicts.exports import verdict_html, verdict_picture, verdict_text
from gpu_course.grading.verdicts.pictures import OF_COUNTER, trouble_of, verdict_figure
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.puzzle import KernelPuzzle, index
from gpu_course.puzzle.room import puzzle_fields
from simt.report import Counters
from tests.gpu_course.draw.readable import assert_readable, texts
from tests.gpu_course.grading import toy

SOLUTIONS = Path(__file__).parents[4] / "solutions"


@pytest.fixture
def failed(file: Path) -> Verdict:
    """A verdict with a hazard, counters and a report."""
    file.write_text(toy.answer("i = cuda.grid(1)", "out[i] = a[i] + 10"))
    return check("plus_ten")


def passed(name: str) -> Figure:
    verdict = check_here(index.find(name), answer=SOLUTIONS, seed=0)
    assert verdict.passed, verdict.message
    return drawn(verdict)


def mistaken(name: str) -> Verdict:
    """The verdict on a named mistake, "puzzle: function"."""
    short, _, function = name.partition(": ")
    puzzle = index.find(short)
    mistake = next(each for each in puzzle.mistakes if each.function == function)
    return check_here(puzzle, answer=mistake_answer(puzzle, mistake, SOLUTIONS), seed=0)


def drawn(verdict: Verdict) -> Figure:
    figure = verdict_figure(verdict)
    assert figure is not None
    return figure


def hatched(figure: Figure) -> int:
    """How many cells are marked, without the sample in the legend."""
    patches = figure.findobj(Rectangle)
    return sum(each.get_hatch() == p.CONFLICT_HATCH for each in patches) - 1


# What a pass shows

PASSES = {
    "warp_and_lane": "warp 0: 5 lines, no split, lanes at work 160 of 160 times",
    "even_odd_uniform": "warp 1: 13 lines, no split, lanes at work 416 of 416 times",
    "ballot_count": "ballot_count, warp 0: 5 lines",
    "warp_sum": "true in lane 0, false in lanes 1 to 31",
    "warp_max_all": "warp_max_all, warp 0: 19 lines",
    "warp_scan": "true in lanes 16 to 31, false in lanes 0 to 15",
    "copy_coalesced": "writes out: 32 lanes of a warp touch 4 sectors, 128 bytes for 128",
    "sum_columns": "reads a: 32 lanes of a warp touch 4 sectors, 128 bytes for 128",
    "sum_rows": "writes out: 1 lane of a warp touch 1 sector, 32 bytes for 4",
    "soa_from_aos": "reads a: 32 lanes of a warp touch 4 sectors, 128 bytes for 128",
    "embedding_lookup": "reads table: 32 lanes of a warp touch 4 sectors, 128 bytes for 128",
    "transpose_naive": "touch 32 sectors, 1,024 bytes for 128",
    "count_smaller": "Interval 2: threads 0 to 63 read cells 0 to 63",
    "block_reverse": "Interval 1: threads 0 to 63 write cells 0 to 63, until the barrier",
    "fix_the_race": "8 barrier intervals, no race",
    "fix_the_barrier": "4 barrier intervals, no race",
    "pooling": "Interval 2: threads 0 to 11 read cells 0 to 11",
    "stencil_halo": "threads 0 to 63 write cells 0 to 65, until the barrier",
    "conv1d": "threads 0 to 63 write cells 0 to 66, until the barrier",
    "box_blur_2d": "threads 0 to 127 read cells 0 to 179",
    "transpose_tiled": "32 passes, 31 conflicts",
    "transpose_padded": "1 pass, no conflict",
}


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_draws_what_the_puzzle_teaches(name: str) -> None:
    figure = passed(name)
    assert PASSES[name] in alt_text(figure)
    assert_readable(figure)


def test_every_kernel_puzzle_of_these_lessons_is_in_the_list() -> None:
    lessons = ("02_warps", "03_coalescing", "04_shared_memory")
    kernels = [each for each in index.puzzles() if isinstance(each, KernelPuzzle)]
    assert {each.short_name for each in kernels if each.lesson in lessons} == set(PASSES)


# What is over budget

COSTLY = {
    "even_odd_uniform: asked_the_cell": "counted branches that split a warp: lanes 0 to 31",
    "even_odd_uniform: computed_both": "counted float32 operations, 2 times",
    "ballot_count: added_with_shuffles": "counted shuffles, 5 times: lanes 0 to 31",
    "ballot_count: atomics": "24 threads update out[0], one after the other",
    "ballot_count: through_a_tile": "counted writes to shared memory",
    "warp_sum: one_lane_reads_all": "counted loads by warps, 10 times: lane 0 at work",
    "warp_max_all: asked_every_lane": "counted shuffles, 10 times",
    "warp_scan: one_neighbour_at_a_time": "counted shuffles, 5 times",
    "copy_coalesced: a_chunk_for_each_thread": "touch 16 sectors, 512 bytes for 128",
    "sum_columns: a_different_row_for_each_lane": "touch 20 sectors, 640 bytes for 128",
    "sum_rows: a_thread_for_a_row": "6 lanes of a warp touch 6 sectors, 192 bytes for 24",
    "soa_from_aos: field_after_field": "touch 8 sectors, 256 bytes for 128",
    "embedding_lookup: a_thread_for_a_token": "touch 26 sectors, 832 bytes for 104",
    "transpose_naive: along_the_diagonals": "touch 32 sectors, 1,024 bytes for 128",
    "block_reverse: wrote_global_backwards": "writes out: 32 lanes of a warp touch 5 sectors",
    "fix_the_race: one_barrier_too_many": "line 245, which could go",
    "pooling: read_global_again": "block 0 loads 11 cells more than once, up to 4 times",
    "stencil_halo: no_tile_at_all": "Loaded more than once: cells 0 to 63",
    "conv1d: weights_from_global": "block 0 loads 4 cells more than once, up to 64 times",
    "box_blur_2d: no_tile_at_all": "block 0 loads 152 cells more than once, up to 9 times",
    "transpose_tiled: stored_down_the_columns": "writes out: 32 lanes of a warp touch 32 sectors",
    "transpose_padded: not_padded": "reads tile. 32 lanes ask bank 0: 32 passes, 31 conflicts",
    "transpose_padded: turned_on_the_way_in": "writes tile. 32 lanes ask bank 0: 32 passes",
}


@pytest.mark.parametrize("name", COSTLY)
def test_what_is_over_budget_is_drawn_and_its_line_is_named(name: str) -> None:
    verdict = mistaken(name)
    assert verdict.reason == "over-budget"
    figure = drawn(verdict)
    assert COSTLY[name] in alt_text(figure)
    lines = [str(line) for line in verdict.evidence["lines"]]
    if OF_COUNTER[verdict.evidence["counter"].split(" + ")[0]] not in ("loads", "updates"):
        assert any(f"line {line}" in alt_text(figure) for line in lines)
    assert_readable(figure)


def test_the_rows_of_costly_lines_are_framed() -> None:
    verdict = mistaken("even_odd_uniform: asked_the_cell")
    figure = drawn(verdict)
    bold = [t for t in texts(figure) if t.get_color() == p.CONFLICT]
    # The guard splits the last warp alone, and the one that is drawn is not that.
    assert [t.get_text().split()[0] for t in bold] == ["15"]
    assert "counted: branches that split a warp" in [t.get_text() for t in texts(figure)]


def test_each_counter_of_the_table_is_one() -> None:
    for counter in OF_COUNTER:
        assert budgets.counter(Counters(), counter) == 0


@pytest.mark.parametrize("way", ["out", "in"])
def test_the_worst_access_of_either_side_of_the_tile_is_drawn_and_named(
    way: str, tmp_path: Path
) -> None:
    """A tile is cleared in order, and then written, or read, down its columns."""
    text = (SOLUTIONS / "04_shared_memory/transpose_tiled.py").read_text(encoding="utf-8")
    clear = "    tile[y, x] = 0\n    cuda.syncthreads()\n    "
    if way == "in":
        text = text.replace("tile[y, x] = a", "tile[x, y] = a").replace(
            "tile[x, y]\n", "tile[y, x]\n"
        )
    before, at, after = text.partition("    cuda.syncthreads()\n")
    head, guard, rest = before.rpartition("    if ")
    answer = tmp_path / "transpose_tiled.py"
    answer.write_text(f"{head}{clear.rstrip(' ')}{guard}{rest}{at}{after}", encoding="utf-8")
    verdict = check_here(index.find("transpose_tiled"), answer=answer, seed=0)
    assert verdict.passed, verdict.message
    said = alt_text(drawn(verdict))
    assert f"{'reads' if way == 'out' else 'writes'} tile. 32 lanes ask bank 0: 32 passes" in said
    assert said.startswith("The worst access of the tile, line")


# Hazards


def test_a_race_marks_every_cell_in_which_threads_meet() -> None:
    verdict = mistaken("fix_the_race: fenced_and_did_not_wait")
    assert verdict.reason == "hazard"
    figure = drawn(verdict)
    assert "64 races" in alt_text(figure) and "raced: cells 0 to 63" in alt_text(figure)
    # Each is written and read.
    assert hatched(figure) == 2 * 64
    assert_readable(figure)


def test_a_race_marks_no_cell_that_a_warp_barrier_orders() -> None:
    figure = drawn(mistaken("fix_the_race: waited_for_the_warp"))
    assert "raced: cells 0, 32" in alt_text(figure) and hatched(figure) == 4


def test_a_race_in_global_memory_marks_every_cell() -> None:
    figure = drawn(mistaken("even_odd_uniform: forgot_the_block"))
    assert "Where threads meet: cells 0 to 63" in alt_text(figure) and hatched(figure) == 64


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ballot_count: vote_inside_the_guard", "line 14, not the lanes that the mask names"),
        ("fix_the_race: barrier_behind_the_guard", "line 32, the barrier that threads miss"),
        ("conv1d: no_halo", "Read before it is written: cells 64 to 66"),
        ("box_blur_2d: one_load_per_thread", "so are 51 more"),
        ("box_blur_2d: wrong_row_length", "Out of bounds: [10, 0], [10, 1]"),
        ("transpose_tiled: guard_of_the_load", "Out of bounds: [0, 33], [0, 34]"),
        ("even_odd_uniform: no_guard", "Out of bounds: 70, 71, 72"),
    ],
)
def test_a_hazard_is_drawn_with_its_cells_or_lanes_marked(name: str, said: str) -> None:
    verdict = mistaken(name)
    assert verdict.reason == "hazard"
    figure = drawn(verdict)
    assert said in alt_text(figure)
    assert_readable(figure)


def test_threads_of_a_flat_block_have_a_number_and_others_an_index_as_in_the_text() -> None:
    words = [t.get_text() for t in texts(drawn(mistaken("box_blur_2d: wrong_row_length")))]
    assert "11,1" in words and "block 0,0" in words
    words = [t.get_text() for t in texts(drawn(mistaken("even_odd_uniform: no_guard")))]
    assert "1:36" in words and "block 1" in words


# Wrong results


def test_wrong_cells_are_marked_in_rows_and_columns() -> None:
    verdict = mistaken("transpose_tiled: squares_not_turned")
    figure = drawn(verdict)
    assert "1,984 of 2,048 cells are wrong" in alt_text(figure)
    # A window of 8 rows and 10 columns, in which the diagonal is right.
    assert hatched(figure) == 8 * 10 - 8


@pytest.mark.parametrize("name", ["add_ten: added_one", "map_2d: subtracted_the_wrong_way"])
def test_wrong_cells_of_small_arrays_are_marked_where_they_are_drawn_whole(name: str) -> None:
    short, _, function = name.partition(": ")
    puzzle = index.find(short)
    known = {each.function for each in puzzle.mistakes if each.reason == "wrong-result"}
    verdict = mistaken(name if function in known else f"{short}: {sorted(known)[0]}")
    figure = drawn(verdict)
    wrong = int(np.count_nonzero(verdict.evidence["mask"]))
    assert hatched(figure) == wrong and "Wrong: out, cells" in alt_text(figure)


# Toys: what holds whatever the puzzle


def test_of_a_launch_that_is_not_drawn_nothing_is_run_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    whole = Scene.run

    def run(scene: Scene, watch: Any) -> Any:
        asked.append(scene.puzzle)
        return whole(scene, watch)

    monkeypatch.setattr(Scene, "run", run)
    verdict = check_here(index.find("copy_coalesced"), answer=SOLUTIONS, seed=0)
    assert verdict.passed and "copy_coalesced: passed" in verdict_text(verdict)
    assert not asked
    assert "<img" in verdict_html(verdict) and asked == ["03_coalescing/copy_coalesced"]


def test_a_launch_in_an_order_of_another_kind_has_the_plainer_picture() -> None:
    verdict = replace(mistaken("fix_the_race: fenced_and_did_not_wait"), scene=None)
    assert "cells 0 to 63 of tile" in alt_text(drawn(verdict))


def test_a_counter_without_a_picture_has_none() -> None:
    verdict = mistaken("stencil_halo: no_tile_at_all")
    plain = replace(verdict, evidence=verdict.evidence | {"counter": "float64_operations"})
    assert verdict_figure(plain) is None and verdict_picture(plain) == ""


def test_the_picture_of_a_pass_is_one_of_those_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = Path(index.__file__).parents[1] / "lessons/coalescing"
    for name in ("copy_coalesced.toml", "lesson.toml"):
        text = (room / name).read_text(encoding="utf-8")
        text = text.replace("[debrief]\n", '[debrief]\npicture = "sector"\n')
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(CatalogueError, match="asks for a picture of 'sector'"):
        puzzle_fields(str(tmp_path / "copy_coalesced.py"))


def test_of_a_large_launch_the_cells_around_the_fault_are_drawn(failed: Verdict) -> None:
    touches = tuple(replace(touch, shape=(1000,)) for touch in failed.report.touches)
    large = replace(failed, report=replace(failed.report, touches=touches))
    alt = alt_text(drawn(large))
    assert "OutOfBoundsError: a[10]" in alt
    assert "cells 0 to 63 of a" in alt


def test_a_cell_that_is_read_too_early_is_shown_in_the_tile_of_its_own_block(
    failed: Verdict,
) -> None:
    hazard = replace(
        failed.hazards[0],
        kind="uninitialised-read",
        threads=(((2, 1, 0), (0, 0, 0)),),
        details={"array": "tile", "shape": (64,), "cell": 7},
    )
    report = replace(
        failed.report, touches=(), launch=replace(failed.report.launch, grid=(3, 2, 1))
    )
    trouble = trouble_of(hazard, report)
    assert (trouble.block, trouble.cell, trouble.mark) == (5, 7, "read before it is written")
    race = trouble_of(replace(hazard, kind="race", threads=()), report)
    assert race.mark == "where threads meet"


def test_of_a_large_wrong_result_the_first_wrong_cell_is_in_the_picture(failed: Verdict) -> None:
    touches = tuple(replace(touch, shape=(1000,)) for touch in failed.report.touches)
    mask = np.zeros(1000, bool)
    mask[[500, 510]] = True
    wrong = replace(
        failed,
        reason="wrong-result",
        hazards=(),
        report=replace(failed.report, touches=touches),
        evidence={"mask": mask, "array": "out"},
    )
    alt = alt_text(drawn(wrong))
    assert "2 of 1,000 cells are wrong" in alt
    assert "Wrong: cells 500, 510" in alt


@pytest.mark.parametrize("name", ["copy_coalesced", "embedding_lookup"])
def test_the_picture_of_a_pass_is_of_no_array_that_each_thread_has_for_itself(name: str) -> None:
    verdict = check(name, answer=SOLUTIONS, seed=0)
    assert verdict.passed and verdict.report is not None
    spaces = {touch.array: touch.space for touch in verdict.report.touches}
    assert spaces["kept"] == "local"
    picture = verdict_picture(verdict)
    assert "cell of kept" not in picture
    assert "shared" in spaces.values() or "ask bank" not in picture


def test_a_planned_schedule_is_drawn() -> None:
    verdict = check("revolve", answer=SOLUTIONS / "17_checkpointing/revolve.py", seed=0)
    assert verdict.passed, verdict.message
    page = verdict_html(verdict)
    assert "<img" in page and 'alt="' in page
    assert "peak bytes" in verdict.message
