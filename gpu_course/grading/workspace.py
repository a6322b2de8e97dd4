"""Where a learner's answers and notes about them live, and how they are kept from being lost."""

from __future__ import annotations

import ast
import json
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import IO, Any

import gpu_course
from gpu_course.errors import CatalogueError, CourseError, UnknownName
from gpu_course.puzzle import Lesson, Puzzle, index
from simt import files

ANSWERS_VARIABLE = "GPU_COURSE_ANSWERS"
_BESIDE = "kept-"
_ASIDE = "state.unreadable-"
_WON = "passed"
MAX_DEPTH = 20
"""Of what the course remembers; what goes deeper it has not written."""


def checkout() -> Path | None:
    """Returns the checkout of the course the current folder lies in, or None."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (
            (folder / "gpu_course").is_dir()
            and (folder / "puzzles").is_dir()
            and (folder / "pyproject.toml").is_file()
        ):
            return folder
    return None


def answers_folder() -> Path:
    """Returns the folder of the learner's answers.

    That is the folder GPU_COURSE_ANSWERS names, else puzzles/ of the checkout around the current
    folder.

    Raises:
        CourseError: neither is there.
    """
    named = os.environ.get(ANSWERS_VARIABLE, "").strip()
    if named:
        folder = Path(named).expanduser().absolute()
        if not folder.is_dir():
            raise CourseError(
                f"{ANSWERS_VARIABLE} names {named}, which is not a folder",
                f"create it, or unset {ANSWERS_VARIABLE} to use puzzles/ of the checkout",
            )
        return folder
    root = checkout()
    if root is None:
        raise CourseError(
            f"no folder with your answers: {Path.cwd()} is not inside a checkout of the course",
            f"change into the checkout, or name a folder of answers in {ANSWERS_VARIABLE}",
        )
    return root / "puzzles"


def answer_path(puzzle: Puzzle | str, folder: Path | None = None) -> Path:
    """Returns where the answer to a puzzle lies, whether or not the file exists."""
    if isinstance(puzzle, str):
        puzzle = index.find(puzzle)
    return (folder or answers_folder()) / f"{puzzle.name}.py"


def has_notebook(lesson: Lesson) -> bool:
    """True where a lesson's notebook is part of the course; without it there are its puzzles.

    Read from the notebooks' sources, which a learner has no reason to touch. An installation that
    came without them says of every lesson that it has one.
    """
    sources = Path(gpu_course.__path__[0]).parent / "notebooks" / "source"
    return not sources.is_dir() or (sources / f"{lesson.name}.md").is_file()


def state_folder() -> Path:
    """Returns .gpu_course beside the answers folder; it is created when something is kept in it."""
    return answers_folder().parent / ".gpu_course"


def stub_text(name: str) -> str:
    """Returns the pristine stub of a puzzle.

    Raises:
        CatalogueError: the course was built without that stub.
    """
    full = index.find(name).name
    stubs = _stubs()
    if full not in stubs:
        raise CatalogueError(f"the stub of {full} is missing", "run `make build` in the checkout")
    return stubs[full]


def is_stub(text: str, name: str) -> bool:
    """True when a text is the puzzle's stub, but for comments, blank lines and spacing."""
    try:
        pristine = stub_text(name)
    except (CatalogueError, UnknownName):
        # A puzzle that is being written has no stub yet.
        return False
    return text == pristine or same_program(text, pristine)


def same_program(left: str, right: str) -> bool:
    """True when two texts have one syntax tree; False where either is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.dump(ast.parse(left)) == ast.dump(ast.parse(right))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def backup(path: Path) -> Path:
    """Returns a fresh copy of a file, in backups/ under a name that no other backup has.

    Args:
        path: an answer; NN_topic/name.py is copied to backups/NN_topic/name.DATE-TIME.py.
    """
    folder = state_folder() / "backups" / path.parent.name
    folder.mkdir(parents=True, exist_ok=True)
    return _copy_to_new(path.read_bytes(), folder, f"{path.stem}.{_stamp()}", path.suffix)


def backups(name: str) -> tuple[Path, ...]:
    """Returns the copies of one puzzle's answer that were kept, the newest last.

    They lie in backups/; one that JupyterLab's editor had to keep lies beside the answer.
    """
    puzzle = index.find(name)
    folder = state_folder() / "backups" / puzzle.lesson
    beside = answer_path(puzzle).parent
    found = [
        *folder.glob(f"{puzzle.short_name}.*.py"),
        *beside.glob(f"{puzzle.short_name}.{_BESIDE}*.py"),
    ]
    # A pipe or a folder that stood in an answer's place is kept there too, and is no text.
    found = [path for path in found if path.is_file()]
    return tuple(sorted(found, key=lambda path: path.stem.rpartition(".")[2].removeprefix(_BESIDE)))


def restore(name: str, kept: Path | None = None) -> tuple[Path, Path | None]:
    """Writes a kept copy over an answer; returns (that copy, the copy of what it replaced).

    Args:
        name: a puzzle.
        kept: one of its `backups`; default the newest that says something else than the file.

    Raises:
        CourseError: there is no such copy.
    """
    path = answer_path(name)
    if path.is_dir():
        raise CourseError(
            f"{path.name} is a folder where the answer should be", "move it away and try again"
        )
    before = path.read_bytes() if path.is_file() else None
    if kept is None:
        differing = [copy for copy in backups(name) if copy.read_bytes() != before]
        if not differing:
            raise CourseError(
                f"no earlier text of {path.name} is kept",
                "one is kept whenever something replaces an answer of yours",
            )
        kept = differing[-1]
    wanted = kept.read_bytes()
    return kept, put(path, wanted, lambda data: data in (wanted, stub_text(name).encode()))


def reset(name: str) -> Path:
    """Writes the pristine stub over an answer and returns the answer's path.

    What was there is first copied to backups/, unless it is the stub already.
    """
    path = answer_path(name)
    pristine = stub_text(name).encode()
    if path.is_dir():
        raise CourseError(
            f"{path.name} is a folder where the answer should be", "move it away and try again"
        )
    if path.is_file() and path.read_bytes() == pristine:
        return path
    put(path, pristine, lambda data: data == pristine)
    return path


def write_text(path: Path, text: str) -> None:
    """Writes a text, and the folders above it; see `files.write_bytes`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_text(path, text)


def put(path: Path, data: bytes, known: Callable[[bytes], bool]) -> Path | None:
    """Writes an answer; returns the copy of what it replaced, or None where nothing of it is kept.

    What is there at that very moment is judged, so that a text is kept that an editor has saved
    since somebody looked.

    Args:
        path: the answer.
        data: its new text.
        known: whether a text that stood there may be thrown away.
    """
    kept = None
    path.parent.mkdir(parents=True, exist_ok=True)
    for old in files.exchange(path, data):
        if old.is_symlink() or (old.is_file() and known(old.read_bytes())):
            old.unlink()
        else:
            moved = _keep(old, path)
            # A pipe or a folder is moved out of the way, and is no text to bring back.
            kept = moved if moved.is_file() else kept
    return kept


def read_state() -> dict[str, Any]:
    """Returns what the course remembers: a dict, empty at first.

    A state file that is not readable JSON is set aside under a new name and begun afresh.
    """
    path = state_folder() / "state.json"
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    try:
        state = json.loads(data)
    except (ValueError, RecursionError):
        state = None
    if isinstance(state, dict) and _depth(state) <= MAX_DEPTH:
        return state
    _copy_to_new(data, path.parent, f"{_ASIDE}{_stamp()}", ".json")
    path.unlink(missing_ok=True)
    return {}


def _depth(value: object) -> int:
    """Returns how deep dicts and lists lie in each other."""
    depth, layer = 0, [value]
    while layer and depth <= MAX_DEPTH:
        depth += 1
        inner = [x for each in layer if isinstance(each, dict) for x in each.values()]
        inner += [x for each in layer if isinstance(each, list) for x in each]
        layer = [each for each in inner if isinstance(each, dict | list)]
    return depth


def set_aside() -> tuple[Path, ...]:
    """Returns the state files that were not readable and were set aside, the newest last."""
    return tuple(sorted(state_folder().glob(f"{_ASIDE}*.json")))


def update_state(
    change: Callable[[dict[str, Any]], None] | None = None, **values: Any
) -> dict[str, Any]:
    """Changes what the course remembers and returns the new state.

    Reading, changing and writing happen as one step, so two notebooks cannot undo each other.

    Args:
        change: a function that alters the state dict in place.
        values: top-level entries to set.
    """
    folder = state_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with _lock(folder / "lock"):
        state = read_state()
        if change is not None:
            change(state)
        state.update(values)
        write_text(folder / "state.json", json.dumps(state, indent=2, sort_keys=True) + "\n")
    return state


def remember_pass(name: str) -> None:
    """Remembers that an answer to a puzzle has passed, for the map of the course.

    Where nothing can be written, it is not remembered.
    """
    if name in passes_won():
        return

    def change(state: dict[str, Any]) -> None:
        won = state.get(_WON)
        today = datetime.now().date().isoformat()
        state[_WON] = {**(won if isinstance(won, dict) else {}), name: today}

    with suppress(OSError):
        update_state(change)


def passes_won() -> frozenset[str]:
    """Returns the full names of the puzzles of which an answer has passed at any time."""
    try:
        won = read_state().get(_WON)
    except OSError:
        return frozenset()
    return frozenset(won) if isinstance(won, dict) else frozenset()


def _stubs() -> dict[str, str]:
    file = resources.files("gpu_course.puzzle") / "stubs.json"
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise CatalogueError(
            "gpu_course/puzzle/stubs.json is missing", "run `make build` in the checkout"
        ) from None


def _keep(old: Path, path: Path) -> Path:
    """Moves what stood in an answer's place to backups/, or beside the answer; returns where.

    The file itself is moved: an editor that has it open still may write on into it.
    """
    stamp = _stamp()
    folder = state_folder() / "backups" / path.parent.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return _move_to_new(old, folder, f"{path.stem}.{stamp}", path.suffix)
    except OSError:
        # Another disk, a full one, or no right to write there.
        return _move_to_new(old, path.parent, f"{path.stem}.{_BESIDE}{stamp}", path.suffix)


def _move_to_new(old: Path, folder: Path, stem: str, suffix: str) -> Path:
    number = 1
    while True:
        path = folder / (f"{stem}{suffix}" if number == 1 else f"{stem}-{number}{suffix}")
        if not os.path.lexists(path):
            old.rename(path)
            return path
        number += 1


def _stamp() -> str:
    return datetime.now().strftime("%Y%m%d-%H%M%S-%f")


def _copy_to_new(data: bytes, folder: Path, stem: str, suffix: str) -> Path:
    number = 1
    while True:
        path = folder / (f"{stem}{suffix}" if number == 1 else f"{stem}-{number}{suffix}")
        try:
            with path.open("xb") as file:
                _fill(file, data, path)
            return path
        except FileExistsError:
            number += 1


def _fill(file: IO[bytes], data: bytes, path: Path) -> None:
    """Writes all of it; a copy that is not whole is worse than none, and is removed."""
    try:
        file.write(data)
        file.flush()
    except BaseException as error:
        path.unlink(missing_ok=True)
        files.name_file(error, path)
        raise


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Holds an advisory lock on a file; the system lets go of it when a process dies."""
    with path.open("a+b") as file:
        if os.name == "nt":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
            try:
                yield
            finally:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
            yield
