"""What lesson 29 shows: meshes to click into, and the learner's own answers on real ranks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpu_course.draw.training.meshes import pickable_html
from gpu_course.grading.workspace import ANSWERS_VARIABLE
from gpu_course.isolation import servers
from gpu_course.lessons.meshes import shows as lesson
from gpu_course.lessons.meshes.one_step import sent_bytes
from gpu_course.measure.every_axis.configuration import Configuration, Shape
from gpu_course.measure.meshes import Cluster
from gpu_course.notebook.note import Note
from gpu_course.notebook.pictures import Picture
from tests.gpu_course.notebook.tutor.test_feedback import SOLUTIONS
from tests.lessons.meshes.pictures import MESHES, example

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)


@pytest.mark.parametrize("name", MESHES)
@pytest.mark.parametrize("flat", [False, True])
def test_every_rank_has_a_button_that_says_who_its_partners_are(name: str, flat: bool) -> None:
    data = example(name)
    html = pickable_html(data, "mesh0", flat=flat)
    said = dict(re.findall(r'id="mesh0-(\d+)"[^>]*aria-label="([^"]*)"', html))
    assert sorted(map(int, said)) == list(range(data.ranks))
    shown = dict(re.findall(r'<g class="k k(\d+)">(.*?)</g>', html))
    for rank in range(data.ranks):
        assert html.count(f"#mesh0-{rank}:checked~svg .k{rank}") == 1
        partners = {
            (other, axis)
            for axis, groups in data.groups.items()
            for group in groups
            if rank in group
            for other in group
            if other != rank
        }
        # A frame for each partner, and one for the rank itself.
        assert shown[str(rank)].count("<use ") == len(partners) + 1
        for other, axis in partners:
            assert f'href="#mesh0-{axis}"' in shown[str(rank)]
            assert re.search(rf"\b{axis} with [\d, .]*", said[str(rank)])
            assert "and so on" in said[str(rank)] or re.search(rf"\b{other}\b", said[str(rank)])


def test_buttons_lie_on_the_picture() -> None:
    places = re.findall(
        r"left:([\d.]+)%;top:([\d.]+)%;width:([\d.]+)%;height:([\d.]+)%",
        pickable_html(example("six axes"), "mesh0"),
    )
    assert len(set(places)) == 64
    for place in places:
        left, top, wide, high = map(float, place)
        assert left >= 0 and top >= 0 and left + wide <= 100 and top + high <= 100


def test_two_pictures_of_a_page_do_not_share_their_buttons() -> None:
    mesh = lesson.four_axes()
    assert not isinstance(mesh, Note)
    first, second = mesh._repr_html_(), mesh._repr_html_()
    assert set(re.findall(r' name="(\w+)"', first)).isdisjoint(re.findall(r' name="(\w+)"', second))


def test_links_say_where_they_go() -> None:
    data = lesson.mesh_data(lesson.mesh_of("tp dp", tp=8, dp=4), "dp", Cluster(8, 2))
    kinds = {(one, other): link for one, other, link in data.links}
    assert kinds[0, 8] == "between nodes" and kinds[8, 16] == "between racks"
    # A pipeline has an end, and a ring has none.
    line = lesson.mesh_data(lesson.mesh_of("pp", pp=4), "pp", Cluster(8))
    ring = lesson.mesh_data(lesson.mesh_of("dp", dp=4), "dp", Cluster(8))
    assert (len(line.links), len(ring.links)) == (3, 4)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: lesson.in_space("tp dp", "pp"), "there is no axis pp"),
        (lambda: lesson.in_space("tp dp", "tp", pp=2), "has no axis pp"),
        (lambda: lesson.in_nodes("tp dp", "tp", tp=32, dp=4), "128 ranks cannot be drawn"),
        (lambda: lesson.four_axes(tp=8, cp=4, pp=4), "256 ranks cannot be drawn"),
    ],
)
def test_what_cannot_be_drawn_is_told(call, says: str) -> None:
    told = call()
    assert isinstance(told, Note) and says in repr(told)


def test_pictures_of_the_lesson_say_whom_a_rank_talks_to() -> None:
    shown = lesson.in_space("tp cp pp dp", coloured="pp", picked=5)
    assert isinstance(shown, Picture) and "tp with 4; cp with 7; pp with 1; dp with 13" in repr(
        shown
    )
    split = lesson.in_nodes("dp tp pp", coloured="tp", dp=2, tp=8, pp=2)
    assert "24 in a node, 8 between nodes" in repr(split)


def test_what_sends_most_is_what_the_formula_says() -> None:
    lines = ["dp=2", "dp=2 zero3", "tp=2", "pp=2"]
    sent = {line: sum(sent_bytes(Configuration.read(line), Shape(), 0).values()) for line in lines}
    assert lesson.most_sent(lines) == max(sent, key=sent.__getitem__)


@NEEDS_RANKS
def test_ones_own_groups_are_those_of_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(SOLUTIONS))
    said = lesson.beside_pytorch("tp pp", tp=2, pp=2)
    assert isinstance(said, str) and said.endswith("the same on all ranks: yes")
    assert max(map(len, said.splitlines())) <= 70


@NEEDS_RANKS
def test_one_model_has_one_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(SOLUTIONS))
    said = lesson.one_model(["", "dp=2", "tp=2", "tp=2 sp", "pp=2"])
    assert isinstance(said, str)
    table = [re.split(r" {2,}", line) for line in said.splitlines()[2:]]
    assert len({row[1].split()[-1] if len(row) == 5 else row[1] for row in table}) == 1
    for row in table:
        counted, yours, held, foretold = row[-4:]
        assert counted == yours and held == foretold
    assert max(map(len, said.splitlines())) <= 72


def test_without_an_answer_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(tmp_path))
    assert isinstance(lesson.beside_pytorch(), Note)
    assert isinstance(lesson.one_model(), Note)
