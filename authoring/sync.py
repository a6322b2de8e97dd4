"""`make check-sync`: are the built files in git's index those of the sources in git's index?"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat

from authoring.checkout import (
    LESSON_FOLDER,
    AuthoringError,
    learner_notebook,
    lesson_sources,
    read,
    solution_files,
    stubs_file,
    teacher_notebook,
)
from authoring.notebooks import build_notebook, cell_inputs, puzzle_notes
from authoring.stubs import build_stubs, stubs_json

COMPARED = ("solutions", "puzzles", "notebooks", "gpu_course/puzzle/stubs.json")


def check_sync(root: Path) -> tuple[str, ...]:
    """Returns what differs in git's index, one sentence each; empty when all is in step.

    Sources and built files are both taken from the index, so edits in the work tree that are not
    staged change nothing here.

    Raises:
        AuthoringError: not a git checkout, nothing staged, or a source at fault.
    """
    with index_copy(root, COMPARED) as staged:
        return differences(staged)


def differences(root: Path) -> tuple[str, ...]:
    """Returns what a build of the sources under `root` would change in its stubs and notebooks.

    The stored outputs of the teacher's edition are not looked at: running it is nbval's part.
    """
    stubs = build_stubs(root)
    expected = {root / "puzzles" / f"{name}.py": text for name, text in stubs.items()}
    found = [
        path
        for path in sorted((root / "puzzles").glob("*/*.py"))
        if LESSON_FOLDER.fullmatch(path.parent.name)
    ]
    out = [_compare_text(root, path, text) for path, text in expected.items()]
    out += [_compare_text(root, stubs_file(root), stubs_json(stubs))]
    out += [_no_source(root, path, "solution") for path in found if path not in expected]

    solutions = {name: read(path) for name, path in solution_files(root).items()}
    lessons = lesson_sources(root)
    for lesson, source in lessons.items():
        for path, answers, solved in (
            (learner_notebook(root, lesson), stubs, False),
            (teacher_notebook(root, lesson), solutions, True),
        ):
            notes = puzzle_notes(lesson, solved=solved)
            wanted = build_notebook(lesson, read(source), answers, notes=notes)
            out += _compare_notebook(root, path, wanted)
    for folder in (root / "notebooks", root / "solutions" / "notebooks"):
        for path in sorted(folder.glob("*.ipynb")):
            if path.stem not in lessons:
                out.append(_no_source(root, path, "source"))
    return tuple(filter(None, out))


@contextmanager
def index_copy(root: Path, paths: tuple[str, ...]) -> Iterator[Path]:
    """Yields a temporary folder holding what git's index has under `paths`.

    Raises:
        AuthoringError: not a git checkout, a merge under way, or nothing under these paths staged.
    """
    if shutil.which("git") is None:
        raise AuthoringError(
            "git is not installed", file=str(root), hint="check-sync compares with git's index"
        )
    prefix = _git(root, "rev-parse", "--show-prefix").strip()
    if _git(root, "ls-files", "--unmerged", "--", *paths):
        raise AuthoringError(
            "git's index holds files with merge conflicts",
            file=str(root),
            hint="resolve and stage them first",
        )
    listed = _git(root, "ls-files", "-z", "--", *paths)
    if not listed:
        raise AuthoringError(
            "git's index holds no source and no built file",
            file=str(root),
            hint="stage them: git add notebooks puzzles solutions gpu_course",
        )
    with tempfile.TemporaryDirectory(prefix="gpu-course-sync-") as folder:
        target = Path(folder).resolve()
        _git(root, "checkout-index", "-z", "--stdin", f"--prefix={target.as_posix()}/", text=listed)
        yield target / prefix


def _git(root: Path, *arguments: str, text: str = "") -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *arguments],
        input=text.encode(),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise AuthoringError(
            f"git {arguments[0]} says: {done.stderr.decode(errors='replace').strip()}",
            file=str(root),
            hint="check-sync compares with git's index: run it in a git checkout of the course",
        )
    return done.stdout.decode()


def _compare_text(root: Path, path: Path, expected: str) -> str:
    shown = path.relative_to(root).as_posix()
    if not path.is_file():
        return f"{shown}: missing"
    actual = read(path)
    if actual == expected:
        return ""
    pairs = enumerate(zip(actual.split("\n"), expected.split("\n"), strict=False), 1)
    line = next((n for n, (a, b) in pairs if a != b), 0)
    return f"{shown}:{line}: is not what its solution gives" if line else f"{shown}: ends early"


def _no_source(root: Path, path: Path, kind: str) -> str:
    return f"{path.relative_to(root).as_posix()}: there is no {kind} it would be built from"


def _compare_notebook(root: Path, path: Path, wanted: nbformat.NotebookNode) -> list[str]:
    shown = path.relative_to(root).as_posix()
    if not path.is_file():
        return [f"{shown}: missing"]
    try:
        notebook = nbformat.read(path, as_version=4)
    except (ValueError, nbformat.ValidationError) as error:
        return [f"{shown}: not a notebook ({str(error).partition(chr(10))[0]})"]
    out = []
    have, want = cell_inputs(notebook), cell_inputs(wanted)
    for number, (a, b) in enumerate(zip(have, want, strict=False), 1):
        parts = [part for part in b if a[part] != b[part]]
        if parts:
            first_line = b["source"].partition("\n")[0]
            out.append(f"{shown}, cell {number} ({first_line}): {', '.join(parts)} differ")
    if len(have) != len(want):
        out.append(f"{shown}: has {len(have)} cells, its source gives {len(want)}")
    if notebook.metadata != wanted.metadata:
        out.append(f"{shown}: the notebook's metadata differ")
    if path.parent == root / "notebooks" and any(cell.get("outputs") for cell in notebook.cells):
        out.append(f"{shown}: holds outputs, which only the teacher's edition does")
    return out
