"""From a lesson's hand-written source to the cells of its two notebooks; nothing runs here."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

from authoring.checkout import AuthoringError
from gpu_course.grading.verdicts import onward
from gpu_course.puzzle import index
from gpu_course.puzzle.lesson_cells import cell_id

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
PUZZLE_CELL = re.compile(r"%%puzzle[ \t]+(\S+)[ \t]*")
PUZZLE_HEADING = re.compile(r"^#+ Puzzle: `(\w+)`$", re.MULTILINE)
FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)
NEW_CELL = {"code": new_code_cell, "markdown": new_markdown_cell, "raw": new_raw_cell}


def build_notebook(
    lesson: str,
    source: str,
    answers: Mapping[str, str],
    file: str = "",
    notes: Mapping[str, str] | None = None,
) -> NotebookNode:
    """Returns a lesson's notebook without outputs, its puzzle cells filled with answers.

    Everything in it follows from the arguments, cell ids included: an id is made of the lesson,
    the cell's own text in the source and how often that text came before, so that an edit in one
    cell leaves the ids of all others as they are.

    Args:
        lesson: the lesson's name, such as "01_threads".
        source: MyST Markdown, as jupytext reads it.
        answers: {full puzzle name: text} of stubs for a learner, of solutions for a teacher.
        file: how messages call the source.
        notes: {full puzzle name: Markdown} for the line below the heading of a puzzle.

    Raises:
        AuthoringError: a puzzle cell that names no puzzle of the lesson, holds code of its own, or
            comes twice; a source that jupytext cannot read; or one without a cell.
    """
    file = file or f"notebooks/source/{lesson}.md"
    cells: list[NotebookNode] = []
    seen: Counter[tuple[str, str]] = Counter()
    filled: set[str] = set()
    for cell, line in _source_cells(source, file):
        text = cell.source
        if cell.cell_type == "code" and text.startswith("%%puzzle"):
            name = _puzzle_name(lesson, text, answers, file, line)
            if name in filled:
                raise AuthoringError(
                    f"the puzzle {name} has two cells", file=file, line=line,
                    hint="keep one `%%puzzle` cell for each puzzle",
                )  # fmt: skip
            filled.add(name)
            # IPython gives the cell its last newline back, so the file keeps every byte.
            text = text.rstrip() + "\n" + answers[name].removesuffix("\n")
        elif cell.cell_type == "markdown":
            text = _with_notes(text, lesson, notes or {})
        key = cell.cell_type, cell.source
        seen[key] += 1
        new = NEW_CELL[cell.cell_type](
            source=text,
            metadata=_sorted(cell.metadata),
            id=cell_id(lesson, cell.cell_type, cell.source, seen[key]),
        )
        cells.append(new)
    notebook = new_notebook(
        cells=cells, metadata={"kernelspec": dict(KERNEL), "language_info": {"name": "python"}}
    )
    notebook.metadata["gpu_course"] = {"lesson": lesson, "inputs": inputs_digest(notebook)}
    return notebook


def puzzle_notes(lesson: str, *, solved: bool = False) -> dict[str, str]:
    """Returns {full puzzle name: the line below its heading}.

    It says how hard the puzzle is, how long it takes, and how a kernel shares the work.

    Args:
        lesson: its name; one that is not in the catalogue has no notes.
        solved: True for the teacher's edition, whose line links to the discussion as well.
    """
    notes = {}
    for puzzle in index.puzzles():
        if puzzle.lesson == lesson:
            effort = onward.effort(puzzle)
            share = getattr(puzzle, "share", None)
            rule = f" {share.words}" if share else ""
            notes[puzzle.name] = f"*{effort[0].upper()}{effort[1:]}.{rule}*"
            if solved:
                notes[puzzle.name] += f" [Discussion](../{puzzle.name}.md)"
    return notes


def _with_notes(text: str, lesson: str, notes: Mapping[str, str]) -> str:
    """Returns Markdown with a note below the heading of each puzzle that has one."""

    def with_note(heading: re.Match[str]) -> str:
        note = notes.get(f"{lesson}/{heading[1]}")
        return f"{heading[0]}\n\n{note}" if note else heading[0]

    return PUZZLE_HEADING.sub(with_note, text)


def notebook_text(notebook: NotebookNode) -> str:
    """Returns the notebook as it is stored: validated JSON with a newline at the end."""
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def cell_inputs(notebook: NotebookNode) -> list[dict[str, Any]]:
    """Returns what was written by hand in each cell: its id, type, tags and source."""
    return [
        {
            "id": cell.get("id", ""),
            "type": cell.cell_type,
            "tags": list(cell.metadata.get("tags", [])),
            "source": cell.source,
        }
        for cell in notebook.cells
    ]


def inputs_digest(notebook: NotebookNode) -> str:
    """Returns a digest of a notebook's inputs.

    The build leaves it in the notebook. A notebook whose inputs still have the digest it carries
    was at most run, never edited, and may be built anew.
    """
    text = json.dumps(cell_inputs(notebook), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def is_untouched(notebook: NotebookNode) -> bool:
    """Returns whether nobody changed a notebook's inputs since it was built."""
    recorded = notebook.metadata.get("gpu_course", {}).get("inputs")
    return recorded is not None and recorded == inputs_digest(notebook)


def _source_cells(source: str, file: str) -> list[tuple[NotebookNode, int]]:
    """Returns the cells of a source, each with the line it begins on."""
    from jupytext.myst import MystMetadataParsingError, myst_to_notebook

    # The front matter is for editors and jupytext's own commands; the metadata here are ours.
    # Its lines stay as blank ones, so that the others keep their numbers.
    body = FRONT_MATTER.sub(lambda match: "\n" * match[0].count("\n"), source, count=1)
    try:
        notebook = myst_to_notebook(body, add_source_map=True)
    except MystMetadataParsingError as error:
        raise AuthoringError(f"jupytext cannot read the source: {error}", file=file) from error
    if not notebook.cells:
        raise AuthoringError("the lesson's source holds no cell", file=file)
    lines = notebook.metadata.source_map
    return [(cell, line + 1) for cell, line in zip(notebook.cells, lines, strict=True)]


def _puzzle_name(lesson: str, text: str, answers: Mapping[str, str], file: str, line: int) -> str:
    match = PUZZLE_CELL.fullmatch(text.rstrip())
    if match is None:
        raise AuthoringError(
            "a puzzle cell of a source is the line `%%puzzle NAME` and nothing else",
            file=file,
            line=line,
            hint="the build fills in the stub or the solution",
        )
    name = f"{lesson}/{match[1].rpartition('/')[2]}"
    if name not in answers:
        raise AuthoringError(
            f"there is no puzzle {match[1]!r} in {lesson}",
            file=file,
            line=line,
            hint=f"a puzzle needs its solution in solutions/{name}.py",
        )
    return name


def _sorted(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {key: metadata[key] for key in sorted(metadata)}
