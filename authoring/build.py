"""`make build`: writes the stubs and both editions of every notebook from the sources."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
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
    write,
)
from authoring.notebooks import build_notebook, is_untouched, notebook_text, puzzle_notes
from authoring.stubs import build_stubs, stubs_json

Say = Callable[[str], None]


def build(
    root: Path, *, only: str | None = None, force: bool = False, say: Say = print
) -> tuple[Path, ...]:
    """Returns the files it left alone because somebody had edited them.

    Args:
        root: the checkout.
        only: one lesson whose notebooks are built, without running the cells of which nothing is
            stored, such as those that look at the whole course; stubs are always built all.
        force: back up edited files and write them as well.
        say: where each changed file is told.

    Raises:
        AuthoringError: a source at fault, or a cell of a teacher's edition that raised.
    """
    lessons = lesson_sources(root)
    if only is not None and only not in lessons:
        raise AuthoringError(
            f"there is no lesson {only!r}",
            file="notebooks/source/",
            hint=f"one of: {', '.join(lessons) or 'none yet'}",
        )
    stubs = build_stubs(root)
    left = write_stubs(root, stubs, force=force, say=say)
    with tempfile.TemporaryDirectory(prefix="gpu-course-") as verdicts:
        for lesson in [only] if only else lessons:
            left += write_notebooks(
                root,
                lesson,
                stubs,
                force=force,
                say=say,
                verdicts=Path(verdicts),
                run_not_stored=only is None,
            )
    for path in left:
        say(
            f"left alone, since it was edited: {path.relative_to(root).as_posix()} "
            "(--force backs it up and writes it)"
        )
    return left


def write_stubs(
    root: Path, stubs: Mapping[str, str], *, force: bool = False, say: Say = print
) -> tuple[Path, ...]:
    """Writes puzzles/ and stubs.json; returns the puzzles that were left alone.

    A puzzle is written where it is missing or still holds an older stub, and removed where its
    solution is gone. One that a learner has edited stays as it is.
    """
    pristine = _older_stubs(root)
    left: list[Path] = []
    for name, text in stubs.items():
        path = root / "puzzles" / f"{name}.py"
        known = {text, *(older[name] for older in pristine if name in older)}
        if path.is_file() and read(path) not in known:
            if not force:
                left.append(path)
                continue
            say(f"backed up to {_backup(root, path)}")
        if write(path, text):
            say(f"wrote {path.relative_to(root).as_posix()}")
    for path in sorted((root / "puzzles").glob("*/*.py")):
        name = f"{path.parent.name}/{path.stem}"
        if name in stubs or not LESSON_FOLDER.fullmatch(path.parent.name):
            continue
        if force:
            say(f"backed up to {_backup(root, path)}")
        if force or any(read(path) == older.get(name) for older in pristine):
            path.unlink()
            say(f"removed {path.relative_to(root).as_posix()}")
        else:
            left.append(path)
    if write(stubs_file(root), stubs_json(stubs)):
        say(f"wrote {stubs_file(root).relative_to(root).as_posix()}")
    return tuple(left)


def write_notebooks(
    root: Path,
    lesson: str,
    stubs: Mapping[str, str],
    *,
    force: bool = False,
    say: Say = print,
    verdicts: Path | None = None,
    run_not_stored: bool = True,
) -> tuple[Path, ...]:
    """Writes both editions of one lesson; returns the learner's one if it was left alone.

    Args:
        root, stubs, force, say: as in `build`.
        lesson: its name.
        verdicts: as in `answers_copy`.
        run_not_stored: as in `execute`.
    """
    from authoring.execution import answers_copy, execute

    source = read(lesson_sources(root)[lesson])
    left: tuple[Path, ...] = ()
    path = learner_notebook(root, lesson)
    if path.is_file() and not _was_never_edited(path) and not force:
        left = (path,)
    else:
        if path.is_file() and not _was_never_edited(path):
            say(f"backed up to {_backup(root, path)}")
        built = build_notebook(lesson, source, stubs, notes=puzzle_notes(lesson))
        if write(path, notebook_text(built)):
            say(f"wrote {path.relative_to(root).as_posix()}")
    # The solutions lie where a learner's answers would: each solved cell equals its file, so it
    # writes nothing and checks it, and `progress()` shows what a teacher expects to see.
    solutions = {name: read(file) for name, file in solution_files(root).items()}
    solved = build_notebook(lesson, source, solutions, notes=puzzle_notes(lesson, solved=True))
    with answers_copy(solutions, verdicts=verdicts) as answers:
        execute(solved, answers, lesson=lesson, solved=True, run_not_stored=run_not_stored)
    path = teacher_notebook(root, lesson)
    if write(path, notebook_text(solved)):
        say(f"wrote {path.relative_to(root).as_posix()}")
    return left


def _older_stubs(root: Path) -> list[dict[str, str]]:
    """Returns the stubs that were shipped before: those on disk and those of the last commit."""
    older = []
    if stubs_file(root).is_file():
        older.append(json.loads(read(stubs_file(root))))
    # Without git, or before the first commit, the copy on disk is all there is to know.
    if shutil.which("git"):
        spec = f"HEAD:./{stubs_file(root).relative_to(root).as_posix()}"
        shown = subprocess.run(
            ["git", "-C", str(root), "show", spec], capture_output=True, check=False
        )
        if shown.returncode == 0:
            older.append(json.loads(shown.stdout))
    return older


def _was_never_edited(path: Path) -> bool:
    try:
        return is_untouched(nbformat.read(path, as_version=4))
    except (ValueError, nbformat.ValidationError):
        return False


def _backup(root: Path, path: Path) -> str:
    """Copies a file into .gpu_course/backups/ under a name that is still free."""
    folder = root / ".gpu_course" / "backups"
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    stem = "-".join(path.relative_to(root).with_suffix("").parts)
    number = 0
    while True:
        extra = f"-{number}" if number else ""
        target = folder / f"{stem}-{stamp}{extra}{path.suffix}"
        if not target.exists():
            break
        number += 1
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, target)
    return target.relative_to(root).as_posix()
