"""What JupyterLab shows of the course's widgets where their kernel is gone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpu_course.app.lab import arrange
from tests.browser.lab import Server
from tests.browser.notebooks import write_notebook
from tests.browser.test_live import BROKEN

pytestmark = [pytest.mark.long(40), pytest.mark.browser]

KERNELS = """import numpy as np
from numba import cuda, float32
from gpu_course.draw import draw_touches
from gpu_course.lessons.threads.shows import play_touches
from gpu_course.notebook import *

@cuda.jit
def turn_round(out, a):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    out[t] = tile[63 - t]

@cuda.jit
def double(out, a):
    i = cuda.threadIdx.x
    out[i] = 2 * a[i]

out, a = np.zeros(64, np.float32), np.arange(1, 65, dtype=np.float32)
def launch_with(threads=5):
    return draw_touches(simulate(double)[1, threads](out[:8], a[:8]))
"""
WIDGETS = {
    "explore(launch_with, threads=(1, 8))": "double[1, 5]",
    "play_touches(simulate(double)[1, 8](out[:8], a[:8]))": "double[1, 8]",
    "step_through(turn_round, ('t',))[1, 64](out, a)": "turn_round",
    "replay(turn_round)[1, 64](out, a)": "The order: warp 0 runs ahead.",
    "hint('guard')": "",
    "live('guard')": "",
    "guess = predict('How many?', choices=[1, 2, 3])": "How many?",
    "guess.compare(2)": "The answer waits for your guess.",
    "ms = forecast('h100-add-large')": "How many ms does it take?",
    "ms.compare()": "The answer waits for your forecast.",
    "print('4.1 ms')": "Waits for your forecast above",
}
"""{a cell with a widget: what is to be read of it, or in its picture's alt text, without one}."""


def texts(output: Any) -> str:
    """What is to be read in an output, alt texts of pictures included."""
    alts = [str(each.get_attribute("alt")) for each in output.locator("img").all()]
    return " ".join([output.inner_text(), *alts])


def test_without_its_kernel_a_widget_is_a_text_or_a_picture(
    first_lesson: Server, own_checkout: Path, page: Any, screenshots: Path
) -> None:
    from playwright.sync_api import expect

    from tests.browser.notebook_page import NotebookPage

    page.set_viewport_size({"width": 700, "height": 900})
    name = write_notebook(own_checkout / "notebooks" / "stored.ipynb", KERNELS, *WIDGETS)
    path = own_checkout / "notebooks" / name
    arrange(f"notebooks/{name}", own_checkout)
    address = f"/lab/workspaces/stored/tree/notebooks/{name}"
    notebook = NotebookPage(page, first_lesson, address)
    notebook.run_all()
    expect(page.locator(".gpu-course-verdict")).to_be_visible()
    assert notebook.errors() == [] and page.evaluate(BROKEN) == []
    page.keyboard.press("ControlOrMeta+s")
    page.wait_for_function("() => !document.querySelector('.jp-mod-dirty')")
    stored = json.loads(path.read_text())
    assert stored["metadata"]["widgets"], "the states of the widgets are stored with them"

    for kept in ("states", "no states"):
        first_lesson.end_kernels()
        if kept == "no states":
            del stored["metadata"]["widgets"]
            path.write_text(json.dumps(stored))
        page.goto("about:blank")
        notebook = NotebookPage(page, first_lesson, address)
        for cell, words in WIDGETS.items():
            output = notebook.output(notebook.cell(cell))
            expect(output.locator(".jp-OutputArea-output").first).to_be_visible()
            if kept == "states":
                expect(output.get_by_text("Loading widget")).to_have_count(0)
            expect(output).not_to_contain_text("Error displaying widget")
            assert words in texts(output), (kept, cell)
            pressed = output.locator("button.jupyter-button:visible, .widget-play:visible")
            assert pressed.count() == 0, (kept, cell)
        assert page.evaluate(BROKEN) == []
        assert page.get_by_text("Error displaying widget").count() == 0
        assert notebook.pictures(screenshots, f"stored_{kept.replace(' ', '_')}")


def test_a_verdict_beside_the_editor_is_whole_and_stands_there_once(
    first_lesson: Server, own_checkout: Path, page: Any, screenshots: Path
) -> None:
    from playwright.sync_api import expect

    from tests.browser.notebook_page import NotebookPage

    page.set_viewport_size({"width": 700, "height": 900})
    name = write_notebook(
        own_checkout / "notebooks" / "beside.ipynb",
        "from gpu_course.notebook import live",
        "live('even_odd_uniform')",
    )
    arrange(f"notebooks/{name}", own_checkout)
    notebook = NotebookPage(page, first_lesson, f"/lab/workspaces/beside/tree/notebooks/{name}")
    notebook.run_all()
    page.get_by_role("button", name="Open the file").click()
    page.locator(".jp-FileEditor .cm-content").wait_for()
    verdicts = page.locator(".gpu-course-verdict")
    for text in (WRONG, WRONG.replace("i + 1", "i + 2"), WRONG.replace("i + 1", "i + 3")):
        notebook.type_file(text)
        index = text.partition("a[")[2].partition("]")[0]
        expect(verdicts).to_contain_text(f"x = a[{index}]")
        expect(verdicts).to_have_count(1)
        assert page.evaluate(CUT) == []
    notebook.run(notebook.code_cells.nth(1))
    expect(verdicts).to_contain_text("x = a[i + 3]")
    expect(verdicts).to_have_count(1)
    page.screenshot(path=screenshots / "beside_the_editor.png")


WRONG = """from numba import cuda

TPB = 64
TERMS = 3


@cuda.jit
def even_odd_uniform(out, a, p, q, size):
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * TPB + 2 * (t % 32) + t // 32
    if i < size:
        x = a[i + 1]
        out[i] = (p[0] * x + p[1]) * x + p[2]
"""
CUT = """() => {
    const verdict = document.querySelector('.gpu-course-verdict');
    const right = verdict.closest('.jp-OutputArea-output').getBoundingClientRect().right;
    return [verdict, ...verdict.querySelectorAll('span, div, img')]
        .filter(each => each.getBoundingClientRect().right > right + 1)
        .map(each => each.textContent.slice(0, 60));
}"""
"""What of a verdict goes beyond its cell."""
