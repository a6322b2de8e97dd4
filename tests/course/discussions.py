"""What a discussion holds: its prose, its pieces of code, its tables, its other answer."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from gpu_course.grading.learner.solution import without_marks
from gpu_course.puzzle import Puzzle

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```([\w+]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| *`(.+?)` *\|(.+)\|$")


def discussion(puzzle: Puzzle) -> str:
    """Returns the text of a puzzle's discussion."""
    return (ROOT / "solutions" / f"{puzzle.name}.md").read_text(encoding="utf-8")


def solution(puzzle: Puzzle) -> Path:
    """Returns the file of its solution."""
    return ROOT / "solutions" / f"{puzzle.name}.py"


def blocks(puzzle: Puzzle, language: str) -> list[str]:
    """Returns the pieces of code of one language in a discussion."""
    return [text for found, text in BLOCK.findall(discussion(puzzle)) if found == language]


def other_answer(puzzle: Puzzle, folder: Path) -> Path:
    """Writes the other answer of a discussion; what it leaves out it takes from the solution."""
    (text,) = blocks(puzzle, "python")
    defined = {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    whole = without_marks(solution(puzzle).read_text(encoding="utf-8"))
    parts = [text]
    for node in ast.parse(whole).body:
        if isinstance(node, ast.FunctionDef) and node.name not in defined:
            parts.append("@cuda.jit\n" + (ast.get_source_segment(whole, node) or ""))
    for node in ast.parse(whole).body:
        if isinstance(node, ast.Assign) and (ast.get_source_segment(whole, node) or "") not in text:
            parts.insert(1, ast.get_source_segment(whole, node) or "")
    path = folder / f"{puzzle.short_name}.py"
    path.write_text("\n\n".join(parts), encoding="utf-8")
    return path


def tables(puzzle: Puzzle) -> dict[str, list[tuple[str, list[str]]]]:
    """Returns {head: [(first cell, other cells)]} of the tables of a discussion."""
    found: dict[str, list[tuple[str, list[str]]]] = {}
    rows: list[tuple[str, list[str]]] = []
    for line in discussion(puzzle).splitlines():
        if line.startswith("| c"):
            rows = found.setdefault(line.strip("| "), [])
        elif row := ROW.match(line):
            rows.append((row[1], [cell.strip() for cell in row[2].split("|")]))
    return found
