"""Fat trees: known sizes, ports that suffice and no switch too many, and what the top saves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from gpu_course.errors import CourseError
from gpu_course.lessons.collectives.fat_trees import fat_tree, levels_for, most_gpus, ports_down

RATES = some.integers(1, 9)
PORTS = some.integers(2, 64).map(lambda half: 2 * half)


@pytest.mark.parametrize("ports", [4, 8, 48])
def test_three_full_levels_are_the_tree_of_al_fares(ports: int) -> None:
    """k ports: k^3 / 4 hosts and 5 k^2 / 4 switches; 27,648 hosts for 48, as the paper prints."""
    hosts = ports**3 // 4
    assert most_gpus(ports, 3) == hosts
    assert sum(fat_tree(hosts, ports).switches) == 5 * ports**2 // 4


def test_48_ports_join_as_many_hosts_as_the_paper_prints() -> None:
    assert most_gpus(48, 3) == 27_648


@given(gpus=some.integers(1, 300_000), ports=PORTS, rate=RATES)
def test_every_cable_has_a_port_and_no_switch_is_one_too_many(
    gpus: int, ports: int, rate: int
) -> None:
    tree = fat_tree(gpus, ports, rate)
    levels = len(tree.switches)
    assert tree.cables[0] == gpus and len(tree.cables) == levels
    upwards = [*tree.cables[1:], 0]
    for level, (switches, cables, up) in enumerate(
        zip(tree.switches, tree.cables, upwards, strict=True), 1
    ):
        assert up % switches == 0
        down = ports - up // switches
        assert (switches - 1) * down < cables <= switches * down
        if level == levels:
            assert not up
        elif level == levels - 1:
            assert down <= rate * (ports - down)
            assert rate == 1 or down + 1 > rate * (ports - down - 1)
        else:
            assert 2 * down == ports


@given(gpus=some.integers(1, 300_000), ports=PORTS, rate=RATES)
def test_as_few_levels_as_reach_that_far(gpus: int, ports: int, rate: int) -> None:
    levels = levels_for(gpus, ports, rate)
    assert most_gpus(ports, levels, rate) >= gpus
    assert levels == 1 or most_gpus(ports, levels - 1, rate) < gpus
    # One switch on top has a cable to each part below it, so there are no more parts than ports.
    assert fat_tree(most_gpus(ports, levels, rate), ports, rate).switches[0] >= 1


@given(gpus=some.integers(1, 300_000), ports=PORTS, rate=RATES)
def test_who_saves_cables_has_an_island(gpus: int, ports: int, rate: int) -> None:
    tree = fat_tree(gpus, ports, rate)
    assert 1 <= tree.island <= gpus
    if rate == 1:
        assert tree.island == gpus and min(tree.cables) == gpus
    assert tree.optics == 2 * sum(tree.cables)


def test_a_port_more_goes_up_where_r_does_not_divide() -> None:
    assert [ports_down(64, rate) for rate in (1, 2, 3, 7)] == [32, 42, 48, 56]


@pytest.mark.parametrize("given", [(0, 64, 1), (8, 7, 1), (8, 2, 1), (8, 64, 0)])
def test_no_network_of_that_kind(given: tuple[int, int, int]) -> None:
    with pytest.raises(CourseError, match="no fat tree"):
        fat_tree(*given)
