"""A line is read as a configuration, and one that cannot be is refused with its reason."""

from __future__ import annotations

import pytest

from gpu_course.errors import CourseError
from gpu_course.measure.every_axis import parts
from gpu_course.measure.every_axis.configuration import Configuration, Shape

LINES = ("one rank", "dp=2 zero3 tp=2 sp", "cp=2 pp=3", "tp=4 sp", "ep=2 dp=5")


@pytest.mark.parametrize("line", LINES[1:])
def test_a_line_is_written_as_it_is_read(line: str) -> None:
    read = Configuration.read(line)
    assert Configuration.read(str(read)) == read
    assert set(str(read).split()) == set(line.split())


def test_nothing_at_all_is_one_rank() -> None:
    assert (Configuration.read(""), str(Configuration())) == (Configuration(), "one rank")
    assert Configuration().ranks == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("dp=2 fsdp=2", "'fsdp=2' is no part of a configuration"),
        ("dp=2 dp=4", "stands there twice"),
        ("dp", "does not say how many ranks"),
        ("dp=two", "does not say how many ranks"),
        ("dp=-2", "does not say how many ranks"),
        ("dp=2 zero3=1", "does not say how many ranks"),
    ],
)
def test_a_word_that_says_nothing_is_named(line: str, said: str) -> None:
    with pytest.raises(CourseError, match=said):
        Configuration.read(line)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("dp=2 tp=3", "dp 2 x tp 3 x cp 1 x pp 1 x ep 1 takes 6 ranks, and there are 4"),
        ("pp=4", "2 layers cannot be cut into 4 equal parts"),
        ("pp=2 dp=0", "dp is 0; the least is 1"),
        ("ep=3 dp=1", "takes 3 ranks"),
        ("tp=4 cp=4", "takes 16 ranks"),
        ("tp=1 dp=4 sp", "sp cuts tokens among the ranks of tp, and tp is 1"),
        ("tp=4 zero3", "zero3 cuts weights among the ranks of dp, and dp is 1"),
        ("dp=4", "12 sequences cannot be cut into 8 equal parts"),
    ],
)
def test_what_cannot_be_cut_so_is_refused(line: str, said: str) -> None:
    with pytest.raises(CourseError, match=said):
        Configuration.read(line).check(Shape(), 4)


def test_the_parts_of_all_ranks_are_every_number_once() -> None:
    """Each rank's numbers, less what other ranks hold as well."""
    import numpy as np

    shape, configuration = Shape(), Configuration(tp=2, ep=2, pp=2)
    weights = parts.drawn(np.random.default_rng(0), shape)
    places = [configuration.mesh.coords(rank) for rank in range(configuration.ranks)]
    found = [parts.own_weights(weights, configuration, shape, place) for place in places]
    ups = {each.tobytes() for own in found for (_, name), each in own.items() if name == "up"}
    assert len(ups) == configuration.ranks * (shape.layers // configuration.pp)
    assert sum(each[1, "up"].size for each in found if (1, "up") in each) == weights["up"][1].size
    held = [sorted(name for layer, name in own if layer < 0) for own in found]
    assert held[0] == ["places", "tokens"] and held[-1] == ["norm", "tokens"]
