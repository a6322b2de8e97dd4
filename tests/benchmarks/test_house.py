"""What `make house` counts, on a small tree, and that each figure follows what it counts."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from benchmarks import house


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A course of one lesson with one puzzle, and a test that keeps a list of puzzles."""
    files = {
        "simt/machine/lanes.py": "one\ntwo\n",
        "gpu_course/units.py": "one\n",
        "gpu_course/puzzle/stubs.json": "{}\n",
        "gpu_course/lessons/rows/add.py": "1\n2\n3\n",
        "gpu_course/lessons/rows/add.toml": "1\n2\n",
        "gpu_course/lessons/rows/harness/add.py": "1\n",
        "gpu_course/lessons/rows/claims/add.py": "1\n",
        "gpu_course/lessons/other/add.py": "1\n",
        "authoring/build.py": "",
        "solutions/07_rows/add.py": "1\n2\n",
        "solutions/07_rows/add.md": "1\n",
        "solutions/07_rows/mistakes/add.py": "1\n2\n3\n4\n",
        "notebooks/source/07_rows.md": "",
        "tests/course/lists.py": "LONGEST = ['add']\n",
        "tests/course/innocent.py": "address = 'added'\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_a_room_counts_what_people_write(tree: Path) -> None:
    assert {room.name: (room.files, room.lines) for room in house.rooms(tree)} == {
        "authoring": (1, 0),
        "gpu_course/lessons/other": (1, 1),
        "gpu_course/lessons/rows": (4, 7),
        "gpu_course/units.py": (1, 1),
        "simt": (1, 2),
    }
    assert house.outside_lessons(house.rooms(tree)) == 1


def test_a_list_elsewhere_is_one_place_more(tree: Path) -> None:
    assert house.places_of("07", tree) == (
        "gpu_course/lessons/rows/",
        "notebooks/source/",
        "solutions/07_rows/",
        "tests/course/",
    )
    (tree / "tests/course/lists.py").unlink()
    assert "tests/course/" not in house.places_of("07", tree)


def test_a_puzzle_counts_what_is_written_for_it_alone(tree: Path) -> None:
    assert house.lines_of_puzzles(tree) == {"add": 3 + 2 + 1 + 2 + 1 + 4}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pass", 1),
        ("if a:\n  pass\nelif b and c or d:\n  pass\nelse:\n  pass", 5),
        ("for a in b:\n  pass\nelse:\n  pass", 3),
        ("[a for a in b if a if not a]", 4),
        ("try:\n  pass\nexcept A:\n  pass\nexcept B:\n  pass", 3),
        ("match a:\n  case 1:\n    pass\n  case _:\n    pass", 3),
        ("def f():\n  assert a if b else c", 3),
    ],
)
def test_branches_of_code(text: str, expected: int) -> None:
    assert house.branches(ast.parse(text)) == expected


def test_a_function_with_many_branches_is_named_with_its_place(tree: Path) -> None:
    body = "\n".join(f"        if a == {k}: return {k}" for k in range(20))
    text = f"class A:\n    def few(self): pass\n    def many(self, a):\n{body}\n"
    (tree / "simt/machine/lanes.py").write_text(text)
    assert house.branching(tree) == [(21, "simt/machine/lanes.py:3 many")]


def test_one_launch_passes_the_engine_alone() -> None:
    entered = house.files_entered_apart()
    assert "simt/machine/interpreter.py" in entered
    assert {name.split("/")[0] for name in entered} == {"simt"}


def test_the_closing_lines_of_the_tests_name_every_room_of_many_files() -> None:
    found = house.rooms()
    said = " ".join(house.summary(found))
    assert f"grading {next(r.lines for r in found if r.name == 'gpu_course/grading'):,}" in said
    assert f"{house.outside_lessons(found):,}" in said
