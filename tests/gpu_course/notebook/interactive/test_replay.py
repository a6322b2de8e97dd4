"""`replay` as a lesson calls it."""

from __future__ import annotations

import base64
import html
import re
from pathlib import Path

import numpy as np
import pytest

from gpu_course.notebook import replay
from gpu_course.notebook.interactive.step_through import Stepper
from gpu_course.notebook.note import Note
from tests.gpu_course.draw.kernels import add_neighbours
from tests.simt.interleaving.planted import TEXT, line_of


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kernels") / "planted_kernels.py"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_a_race_is_told_and_can_be_stepped_through(kernels: Path) -> None:
    out, a = np.zeros(64, np.float32), np.arange(1, 65, dtype=np.float32)
    panel = replay(f"{kernels}:missing_before")[1, 64](out, a)
    assert isinstance(panel, Stepper)
    assert not out.any()  # the arrays stay as they are
    read = line_of("missing_before", "read")
    assert f"reads s[63] in line {read}" in panel.children[0].value
    # It starts where it goes wrong, with both warps side by side.
    assert f"Line {read}: out[t] = s[TPB - 1 - t]" in panel.panel.value
    assert panel.warps == (0, 1) and panel.slider.value == panel.start > 0
    assert panel.recording.watch == ("s", "t") or "s" in panel.recording.watch
    bundle = panel._repr_mimebundle_()
    assert bundle["text/plain"].startswith("The order: warp 0 runs ahead.\n")
    assert "missing_before[1, 64], warp 0, warp 1" in bundle["text/plain"]
    assert f"Line {read}" in bundle["text/html"]


def test_story_and_picture_are_about_the_same_cell_and_use_no_later_words(kernels: Path) -> None:
    out, a = np.zeros(64, np.float32), np.arange(1, 65, dtype=np.float32)
    early = replay(f"{kernels}:missing_before")[1, 64](out, a)
    out, a = np.zeros(100, np.float32), np.arange(100, dtype=np.float32) / 8
    late = replay(add_neighbours)[2, 64](out, a, 100, 3)
    for panel in (early, late):
        assert isinstance(panel, Stepper)
        told = re.search(r"(?:reads|writes) (\w+\[\d+\])", panel.story)
        assert told is not None
        struck = {
            match.group(1)
            for hazard in panel.recording.hazards
            if (match := re.match(r"RaceError: (\w+\[\d+\])", hazard.message))
        }
        assert struck == {told.group(1)}
        alt = html.unescape(panel.panel.value)
        svg = base64.b64decode(alt.split("base64,")[1].split('"')[0]).decode()
        for shown in (panel.story, alt.split(" style=")[0], svg):
            assert not re.search(r"wavefront|\bbanks?\b|\bsectors?\b|moved, not asked", shown)
        # The eight lanes round the thread that goes wrong, and the cells round the cell.
        assert svg.count(">warp ") <= 4


def test_a_clean_kernel_gets_a_note(kernels: Path) -> None:
    out, a = np.zeros(64, np.float32), np.arange(1, 65, dtype=np.float32)
    note = replay(f"{kernels}:with_before")[1, 64](out, a)
    assert isinstance(note, Note) and "No race was found in with_before" in note.text


def test_what_cannot_be_replayed_is_a_note_too(kernels: Path, answers: Path) -> None:
    note = replay("guard")
    assert isinstance(note, Note) and "gpu-course reset guard" in note.text
    note = replay("no_such_puzzle")
    assert isinstance(note, Note)
    note = replay(f"{kernels}:with_before")[1, 64](np.zeros(64))
    assert isinstance(note, Note) and "takes 2 arguments" in note.text
