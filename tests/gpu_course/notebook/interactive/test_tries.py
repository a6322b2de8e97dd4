"""A search says how far it has come, where somebody can watch, and leaves nothing behind."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from gpu_course.notebook.interactive import tries
from gpu_course.notebook.interactive.tries import Tries
from simt.interleaving import find_replay, launch_experiment
from simt.simulator import simulate
from tests.simt.interleaving.planted import TEXT


class Handle:
    """What IPython's `display` gives: a place whose content can be changed."""

    def __init__(self, first):
        self.shown = [first["text/plain"]]

    def update(self, data, raw):
        assert raw
        self.shown.append(data["text/plain"])


@pytest.fixture
def in_a_notebook(monkeypatch):
    handles = []

    def display(data, raw, display_id):
        assert raw and display_id
        handles.append(Handle(data))
        return handles[-1]

    monkeypatch.setattr(tries, "get_ipython", lambda: type("Shell", (), {"kernel": object()})())
    monkeypatch.setattr("IPython.display.display", display)
    return handles


def test_a_notebook_shows_one_line_that_is_empty_in_the_end(in_a_notebook):
    with Tries(after_s=0.0) as told:
        told(1, 15)
        told(2, 15)
    (handle,) = in_a_notebook
    line = "{} of 15 orders of the threads tried"
    assert handle.shown == [line.format(1), line.format(2), ""]


def test_it_goes_away_too_when_the_search_is_interrupted(in_a_notebook):
    def search():
        with Tries(after_s=0.0) as told:
            told(1, 15)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search()
    assert in_a_notebook[0].shown[-1] == ""


def test_what_is_over_soon_shows_nothing(in_a_notebook):
    with Tries(after_s=1e9) as told:
        told(1, 15)
    assert in_a_notebook == []


def test_a_terminal_shows_it_and_a_file_does_not(monkeypatch, capsys):
    with Tries(after_s=0.0) as told:
        told(1, 15)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Tries(after_s=0.0) as told:
        told(9, 15)
        told(10, 15)
    out, err = capsys.readouterr()
    line = "10 of 15 orders of the threads tried"
    assert out == "" and f"\r{line}" in err
    assert err.endswith("\r" + " " * len(line) + "\r")


def test_every_order_of_a_search_is_told(tmp_path):
    path = tmp_path / "planted_kernels.py"
    path.write_text(TEXT, encoding="utf-8")
    kernel = simulate(f"{path}:with_before").kernel
    arguments = np.zeros(64, np.float32), np.arange(1, 65, dtype=np.float32)
    seen = []
    experiment = launch_experiment(kernel, (1, 64), arguments)
    plain = find_replay(experiment)
    told = find_replay(experiment, told=lambda tried, most: seen.append((tried, most)))
    assert (told.story, told.tried) == (plain.story, plain.tried) and told.tried > 3
    assert seen == [(number, told.tried) for number in range(1, told.tried)]
