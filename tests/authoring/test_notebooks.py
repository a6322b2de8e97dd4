"""Notebooks: what a source becomes, and that only the source decides it."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from authoring.checkout import AuthoringError, lesson_sources, read
from authoring.notebooks import (
    build_notebook,
    cell_inputs,
    is_untouched,
    notebook_text,
    puzzle_notes,
)
from gpu_course.puzzle import index
from gpu_course.puzzle.lesson_cells import is_of_a_lesson

ROOT = Path(__file__).parents[2]
ANSWERS = {"01_toy/double": "# twice\nx = 2\n", "01_toy/guarded": "y = 3\n"}


@pytest.fixture
def source(toy: Path) -> str:
    return read(lesson_sources(toy)["01_toy"])


def built(source: str) -> nbformat.NotebookNode:
    return build_notebook("01_toy", source, ANSWERS)


def test_cells_come_in_order_with_their_types_and_tags(source: str) -> None:
    cells = built(source).cells
    assert "".join(cell.cell_type[0] for cell in cells) == "mcmcmcccc"
    assert [cell.metadata.get("tags") for cell in cells] == [
        None, None, None, None, ["aside"], ["nbval-ignore-output"], None, None, None,
    ]  # fmt: skip
    assert all(cell.outputs == [] for cell in cells if cell.cell_type == "code")


def test_a_puzzle_cell_holds_the_whole_answer_file(source: str) -> None:
    cells = built(source).cells
    assert cells[3].source == "%%puzzle double\n# twice\nx = 2"
    assert cells[6].source == "%%puzzle guarded\ny = 3"


def test_a_note_stands_below_the_heading_of_its_puzzle() -> None:
    source = "# Toys\n\n### Puzzle: `double`\n\nWords.\n\n```{code-cell}\n%%puzzle double\n```\n"
    notes = {"01_toy/double": "*Easy.*", "01_toy/guarded": "*Hard.*"}
    plain, noted = (build_notebook("01_toy", source, ANSWERS, notes=n) for n in ({}, notes))
    assert plain.cells[0].source == "# Toys\n\n### Puzzle: `double`\n\nWords."
    assert noted.cells[0].source == "# Toys\n\n### Puzzle: `double`\n\n*Easy.*\n\nWords."
    assert plain.cells[0].id == noted.cells[0].id


@pytest.mark.parametrize(
    "path", sorted((ROOT / "notebooks/source").glob("*.md")), ids=lambda path: path.stem
)
def test_every_puzzle_of_a_lesson_says_how_hard_it_is(path: Path) -> None:
    """Above its cell; the teacher's edition links to a discussion that exists."""
    names = [p.name for p in index.puzzles() if p.lesson == path.stem]
    answers = dict.fromkeys(names, "x = 1\n")
    for solved in (False, True):
        notes = puzzle_notes(path.stem, solved=solved)
        text = "".join(
            cell.source
            for cell in build_notebook(path.stem, path.read_text(), answers, notes=notes).cells
        )
        assert list(notes) == names
        shares = {p.name: getattr(p, "share", None) for p in index.puzzles()}
        assert all(share.words in notes[n] for n in names if (share := shares[n]) is not None)
        assert all(text.count(note) >= 1 for note in notes.values())
        links = re.findall(r"\[Discussion\]\((.*?)\)", text)
        assert len(links) == (len(names) if solved else 0)
        assert all((ROOT / "solutions/notebooks" / link).resolve().is_file() for link in links)


def test_the_text_is_the_same_each_time_and_valid(source: str) -> None:
    text = notebook_text(built(source))
    assert text == notebook_text(built(source))
    assert text.endswith("}\n")
    nbformat.validate(nbformat.reads(text, as_version=4))


def test_metadata_say_python_and_nothing_of_the_machine(source: str) -> None:
    metadata = built(source).metadata
    assert metadata.kernelspec.name == "python3"
    assert metadata.language_info == {"name": "python"}
    assert set(metadata) == {"kernelspec", "language_info", "gpu_course"}


def test_both_editions_have_the_same_cell_ids(source: str) -> None:
    other = build_notebook("01_toy", source, dict.fromkeys(ANSWERS, "z = 4\n"))
    assert [c.id for c in other.cells] == [c.id for c in built(source).cells]


def test_ids_are_unique_even_for_equal_cells(source: str) -> None:
    ids = [cell.id for cell in built(source).cells]
    assert len(set(ids)) == len(ids)


def test_a_cell_of_a_lesson_is_known_by_its_id_until_it_is_changed() -> None:
    lesson = "03_coalescing"
    stubs = dict.fromkeys((puzzle.name for puzzle in index.puzzles()), "pass\n")
    notebook = build_notebook(lesson, read(ROOT / f"notebooks/source/{lesson}.md"), stubs)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    own = [cell for cell in cells if not cell.source.startswith("%%puzzle")]
    assert all(is_of_a_lesson(cell.id, cell.source) for cell in own)
    assert not any(is_of_a_lesson(cell.id, f"{cell.source} ") for cell in own)
    assert not is_of_a_lesson(None, own[0].source)


def test_an_edit_leaves_the_ids_of_other_cells(source: str) -> None:
    before = [cell.id for cell in built(source).cells]
    after = [cell.id for cell in built(source.replace("First puzzle.", "The first.")).cells]
    assert [n for n, (a, b) in enumerate(zip(before, after, strict=True)) if a != b] == [2]


def test_an_inserted_cell_leaves_the_ids_of_other_cells(source: str) -> None:
    before = [cell.id for cell in built(source).cells]
    added = source.replace("First puzzle.", "First puzzle.\n\n+++\n\nA new cell.")
    after = [cell.id for cell in built(added).cells]
    assert [id_ for id_ in after if id_ in before] == before


def test_an_edited_notebook_is_told_from_one_that_was_only_run(source: str) -> None:
    notebook = nbformat.reads(notebook_text(built(source)), as_version=4)
    assert is_untouched(notebook)
    notebook.cells[1].execution_count = 3
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", text="hello\n")]
    assert is_untouched(notebook)
    notebook.cells[2].source += " My own note."
    assert not is_untouched(notebook)


def test_a_notebook_made_elsewhere_counts_as_edited(source: str) -> None:
    notebook = built(source)
    del notebook.metadata["gpu_course"]
    assert not is_untouched(notebook)


def test_every_part_of_the_input_is_compared(source: str) -> None:
    assert set(cell_inputs(built(source))[0]) == {"id", "type", "tags", "source"}


FAULTS = {
    "unknown puzzle": ("%%puzzle guarded", "%%puzzle gaurded", "no puzzle 'gaurded' in 01_toy"),
    "code of its own": ("%%puzzle guarded", "%%puzzle guarded\nx = 1", "and nothing else"),
    "two cells": ("%%puzzle guarded", "%%puzzle double", "01_toy/double has two cells"),
    "no name": ("%%puzzle guarded", "%%puzzle", "and nothing else"),
}


@pytest.mark.parametrize(("old", "new", "words"), FAULTS.values(), ids=FAULTS.keys())
def test_a_faulty_puzzle_cell_is_named_with_its_line(
    source: str, old: str, new: str, words: str
) -> None:
    line = source.split("\n").index("%%puzzle guarded") + 1
    with pytest.raises(AuthoringError) as caught:
        built(source.replace(old, new))
    assert words in str(caught.value)
    assert f"  where:  notebooks/source/01_toy.md:{line}\n" in str(caught.value) + "\n"


def test_a_source_without_cells_is_refused() -> None:
    with pytest.raises(AuthoringError, match="no cell"):
        built("---\nkernelspec:\n  name: python3\n---\n")
