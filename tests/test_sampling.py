"""The part of a long series that is run is drawn by the tree, and is the share it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import sampling
from tests.conftest import seconds_of_file

NAMES = [f"test_{number}" for number in range(4000)]


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "EVERYTHING", False)


def part(share: float, *, by_tree: bool = True) -> list[str]:
    return [name for name in NAMES if sampling.drawn(name, share, by_tree=by_tree)]


@pytest.mark.usefixtures("in_parts")
def test_the_same_tree_draws_the_same_part() -> None:
    assert part(0.25) == part(0.25)
    assert 850 < len(part(0.25)) < 1150
    assert part(0) == [] and part(1) == NAMES


@pytest.mark.usefixtures("in_parts")
def test_a_few_are_a_few_however_long_the_series_is() -> None:
    for length in (400, 1000, 4000):
        series = NAMES[:length]
        found = [name for name in series if sampling.drawn(name, sampling.share(100, of=length))]
        assert 50 < len(found) < 150  # a share of this size is off by 10, give or take
    assert sampling.share(10, of=3) == sampling.share(10, of=0) == 1.0


@pytest.mark.usefixtures("in_parts")
def test_another_tree_draws_another_part(monkeypatch: pytest.MonkeyPatch) -> None:
    before, always = set(part(0.25)), part(0.25, by_tree=False)
    monkeypatch.setattr(sampling, "tree_seed", lambda: 1)
    both = before & set(part(0.25))
    assert 150 < len(both) < 350  # a sixteenth of all
    assert part(0.25, by_tree=False) == always and 850 < len(always) < 1150


def test_everything_is_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "EVERYTHING", True)
    assert part(0.01) == NAMES
    assert sampling.examples(500, few=5) == 500


def test_the_seed_is_the_trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = []
    monkeypatch.setattr(sampling, "ROOT", tmp_path)
    folder = tmp_path / "solutions"
    folder.mkdir()
    for text in ("a = 1\n", "a = 2\n", "a = 1\n"):
        (folder / "answer.py").write_text(text)
        seeds.append(sampling.tree_seed.__wrapped__())
    assert seeds[0] == seeds[2] != seeds[1]


def test_files_that_say_they_are_long_come_first(request: pytest.FixtureRequest) -> None:
    order = [seconds_of_file(item) for item in request.session.items]
    assert order == sorted(order, reverse=True)
    module = request.node.getparent(pytest.Module)
    assert seconds_of_file(request.node) == 0
    module.add_marker(pytest.mark.long(7))
    try:
        assert seconds_of_file(request.node) == 7
    finally:
        module.own_markers.pop()
