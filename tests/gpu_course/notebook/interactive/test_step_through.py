"""The widget, moved by setting its values as a front end would."""

from __future__ import annotations

from pathlib import Path

import ipywidgets
import numpy as np
import pytest

from gpu_course.errors import CourseError
from gpu_course.notebook import step_through
from gpu_course.notebook.interactive.step_through import Stepper
from gpu_course.notebook.note import Note
from simt.errors import KernelRefused
from tests.simt.observe.stepped import write_kernels


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_kernels(tmp_path_factory.mktemp("kernels"))


def tile(kernels: Path, **how: object) -> Stepper:
    out = np.zeros(11, np.int64)
    made = step_through(f"{kernels}:tile", ("t", "total", "s"), **how)[2, 8](out, np.arange(11), 11)
    assert isinstance(made, Stepper)
    assert out[10] == 19  # the launch has run
    return made


def test_the_slider_the_buttons_and_play_move_the_picture(kernels: Path) -> None:
    panel = tile(kernels)
    first = panel.panel.value
    assert "step 1 of 11" in first and "s = cuda.shared.array" in first
    panel.on.click()
    assert panel.slider.value == 1 and "step 2 of 11" in panel.panel.value
    panel.slider.value = 5
    assert "The block meets at a barrier." in panel.panel.value
    panel.back.click()
    assert "Line" in panel.panel.value and "step 5 of 11" in panel.panel.value
    assert panel.play.max == panel.slider.max == 10
    panel.slider.value = 0
    panel.back.click()
    assert panel.slider.value == 0 and panel.panel.value == first


def test_another_warp_has_a_track_of_its_own(kernels: Path) -> None:
    panel = tile(kernels)
    assert [name for name, _ in panel.menu.options] == [
        "block (0,0,0) warp 0",
        "block (1,0,0) warp 0",
    ]
    panel.slider.value = 10
    panel.menu.value = (1,)
    assert "block (1,0,0) warp 0" in panel.panel.value.lower()
    assert panel.slider.max == panel.play.max == len(panel.recording.track((1,))) - 1


def test_the_first_warp_can_be_chosen_and_several_shown(kernels: Path) -> None:
    assert tile(kernels, block=1).warps == (1,)
    assert tile(kernels, block=1).menu.options[0] == ("block (1,0,0) warp 0", (1,))
    out, a = np.zeros(64, np.float32), np.arange(128, dtype=np.float32)
    both = step_through(f"{kernels}:conflicts", warp=(0, 1))[1, 64](out, a)
    assert both.warps == (0, 1) and "Warp 1: all 32 lanes active." in both.panel.value
    one = step_through(f"{kernels}:conflicts")[1, 32](out, a)
    assert one.menu not in one.children  # there is nothing to choose


def test_a_stored_notebook_keeps_words_and_the_most_telling_picture(kernels: Path) -> None:
    out, a = np.zeros(8, np.int64), np.arange(8)
    panel = step_through(f"{kernels}:tile_without_barrier")[1, 8](out, a, 8)
    bundle = panel._repr_mimebundle_()
    panel.slider.value = 3
    assert bundle == panel._repr_mimebundle_()
    text = bundle["text/plain"]
    assert text.startswith("tile_without_barrier[1, 8], warp 0: 8 steps")
    assert "! RaceError: s[0] is read and written in no fixed order" in text
    assert "RaceError" in bundle["text/html"] and "step 7 of 8" in bundle["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle
    again = step_through(f"{kernels}:tile_without_barrier")[1, 8](out, a, 8)
    assert again._repr_mimebundle_()["text/plain"] == text


def test_no_output_widget_is_used(kernels: Path) -> None:
    kinds = [type(child) for child in tile(kernels).children]
    assert kinds == [ipywidgets.HBox, ipywidgets.Dropdown, ipywidgets.HTML]


def test_what_cannot_be_shown_is_said(kernels: Path) -> None:
    with pytest.raises(CourseError, match="tile has no variable speed"):
        step_through(f"{kernels}:tile", ("speed",))
    with pytest.raises(KernelRefused):
        step_through(bad)
    out = np.zeros(8, np.int64)
    note = step_through(f"{kernels}:tile", warp=3)[1, 8](out, out, 8)
    assert isinstance(note, Note) and "block 0 has no warp 3" in note.text
    note = step_through(f"{kernels}:tile")[1, 8](out)
    assert isinstance(note, Note) and "takes 3 arguments" in note.text
    with pytest.raises(CourseError, match="a block has at most 1,024"):
        step_through(f"{kernels}:tile")[1, 2048]


def bad(out):
    out[0] = input("no such thing")


def test_an_error_while_drawing_is_shown(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = tile(kernels)

    def fail(*given: object) -> str:
        raise ValueError("no ink")

    monkeypatch.setattr(panel, "_picture", fail)
    panel.slider.value = 4
    assert "ValueError: no ink" in panel.panel.value


def test_sectors_and_banks_are_shown_to_those_who_ask(kernels: Path) -> None:
    out, a = np.zeros(64, np.float32), np.arange(128, dtype=np.float32)
    plain = step_through(f"{kernels}:conflicts")[1, 32](out, a)
    priced = step_through(f"{kernels}:conflicts", costs=True)[1, 32](out, a)
    for step in range(plain.slider.max + 1):
        plain.slider.value = priced.slider.value = step
        assert "wavefront" not in plain.panel.value and "sector" not in plain.panel.value
        if "8 sectors" in priced.panel.value:
            return
    raise AssertionError("no step shows its sectors")
