"""What `progress` keeps of a check: told again for the very same text, and for nothing else."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from gpu_course.errors import CourseError, UnknownName
from gpu_course.grading import check, grade, workspace
from gpu_course.grading.learner import verdict_cache
from gpu_course.grading.learner.progress import progress
from gpu_course.grading.learner.verdict_cache import check_own, fingerprint, keep, kept, key_of
from gpu_course.grading.verdicts.facts import REASONS, STATUSES
from gpu_course.grading.verdicts.sections import fact
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.puzzle import index
from tests.gpu_course.grading import toy
from tests.gpu_course.grading.toy import PAIR, TOY

GRADE = import_module("gpu_course.grading.grade")
WRONG = toy.RIGHT.replace("+ 10", "+ 11")
CHECKED_ALWAYS = [name for name in (p.name for p in toy.PUZZLES) if name != TOY.name]
"""No answer of theirs is there, so that there is nothing to keep."""
SAID = tuple(fact("a fact"))


@pytest.fixture(autouse=True)
def course(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sources may change under a run of the tests; these tests rest on one state of them."""
    monkeypatch.setattr(verdict_cache, "course_fingerprint", lambda: "the course")


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the puzzles that were checked, in order, whoever asked."""
    names: list[str] = []

    def counted(name: object, **options: object) -> Verdict:
        puzzle = name if not isinstance(name, str) else index.find(name)
        names.append(puzzle.name)  # type: ignore[attr-defined]
        return check(puzzle, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(GRADE, "check", counted)
    monkeypatch.setattr(verdict_cache, "check", counted)
    return names


def statuses() -> list[str]:
    """Asks for the progress; returns the status of each toy."""
    (lesson,) = progress()
    return [verdict.status for verdict in lesson.verdicts]


def entry() -> Path:
    """Where the verdict on the toy puzzle is kept."""
    return workspace.state_folder() / "verdicts" / f"{TOY.name}.json"


@pytest.mark.parametrize(("text", "status"), [(toy.RIGHT, "passed"), (WRONG, "failed")])
def test_a_second_call_checks_nothing_again(
    file: Path, checked: list[str], text: str, status: str
) -> None:
    file.write_text(text)
    first = progress()
    assert checked == [puzzle.name for puzzle in toy.PUZZLES]
    checked.clear()
    second = progress()
    assert checked == CHECKED_ALWAYS
    told = [
        [(v.name, v.status, v.reason, v.points, v.max_points) for v in each[0].verdicts]
        for each in (first, second)
    ]
    assert told[0] == told[1] and told[0][0][1] == status
    assert [first[0].passed, first[0].points] == [second[0].passed, second[0].points]


def test_a_changed_file_alone_is_checked_again(
    answers: Path, file: Path, checked: list[str]
) -> None:
    file.write_text(toy.RIGHT)
    pair = answers / f"{PAIR.name}.py"
    pair.write_text(toy.RIGHT + toy.RIGHT.replace("plus_ten", "plus_one").replace("10", "1"))
    assert statuses()[:2] == ["passed", "passed"]
    checked.clear()
    file.write_text(WRONG)
    assert statuses()[:2] == ["failed", "passed"]
    assert TOY.name in checked and PAIR.name not in checked
    checked.clear()
    # A remark is another text, too; so is what was there before.
    file.write_text(toy.RIGHT + "# done\n")
    assert statuses()[0] == "passed"
    file.write_text(toy.RIGHT)
    assert statuses()[0] == "passed"
    assert checked.count(TOY.name) == 2


def test_a_changed_course_has_everything_checked_again(
    file: Path, checked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(toy.RIGHT)
    statuses()
    monkeypatch.setattr(verdict_cache, "course_fingerprint", lambda: "another course")
    checked.clear()
    assert statuses()[0] == "passed" and TOY.name in checked


def test_without_a_fingerprint_nothing_is_kept(
    file: Path, checked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdict_cache, "course_fingerprint", lambda: None)
    file.write_text(toy.RIGHT)
    assert statuses()[0] == statuses()[0] == "passed"
    assert checked.count(TOY.name) == 2 and not entry().exists()


def test_a_seed_that_is_set_counts(
    file: Path, checked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(toy.RIGHT)
    for seed in ("0", "1", "1"):
        monkeypatch.setenv("GPU_COURSE_SEED", seed)
        statuses()
    assert checked.count(TOY.name) == 2
    monkeypatch.delenv("GPU_COURSE_SEED")
    statuses()
    statuses()
    assert checked.count(TOY.name) == 3
    monkeypatch.setenv("GPU_COURSE_SEED", "many")
    with pytest.raises(CourseError, match="not a whole number"):
        progress()


def test_a_check_of_ones_own_answer_spares_progress_another(file: Path, checked: list[str]) -> None:
    file.write_text(toy.RIGHT)
    assert check_own("plus_ten").passed
    checked.clear()
    assert statuses()[0] == "passed" and TOY.name not in checked
    # The check itself is made each time.
    assert check_own(TOY).passed and checked.count(TOY.name) == 1
    with pytest.raises(UnknownName):
        check_own("no_such")


def test_the_last_check_of_a_text_counts(file: Path) -> None:
    file.write_text(toy.RIGHT)
    key = key_of(TOY)
    failed = Verdict(TOY.name, "failed", "wrong-result", 0, 10, SAID)
    keep(key, TOY, failed)
    assert statuses()[0] == "failed"
    check_own(TOY)
    assert statuses()[0] == "passed"


def test_an_answer_that_changes_while_it_is_checked_is_not_kept(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(toy.RIGHT)

    def saved_meanwhile(puzzle: object, **_: object) -> Verdict:
        verdict = check(puzzle)  # type: ignore[arg-type]
        file.write_text(WRONG)
        return verdict

    monkeypatch.setattr(verdict_cache, "check", saved_meanwhile)
    assert check_own(TOY).passed
    assert not entry().exists()
    assert statuses()[0] == "failed"


PAIRS = [(status, reason) for status in STATUSES for reason in REASONS]
SURE = [("passed", None)] + [
    ("failed", reason)
    for reason in (
        "refused",
        "hazard",
        "wrong-result",
        "order-dependent",
        "input-changed",
        "over-budget",
        "missing-function",
        "exception",
    )
]


@pytest.mark.parametrize(("status", "reason"), PAIRS)
def test_only_what_the_next_check_would_say_again_is_kept(
    file: Path, status: str, reason: str | None
) -> None:
    file.write_text(toy.RIGHT)
    key = key_of(TOY)
    keep(key, TOY, Verdict(TOY.name, status, reason, 0, 10, SAID))
    found = kept(key, TOY)
    if (status, reason) not in SURE:
        assert found is None and not entry().exists()
        return
    assert found is not None and (found.status, found.reason) == (status, reason)
    assert (found.points, found.max_points) == (10 if status == "passed" else 0, 10)


STRANGE = [
    ("empty", ""),
    ("half of it", '{"key": "'),
    ("no text", "\udcff\udcfe"),
    ("a list", "[1, 2]"),
    ("deep", "[" * 100_000),
    ("of another text", '{"key": "0", "status": "passed", "reason": null}'),
    ("no key", '{"status": "passed", "reason": null}'),
    ("an error", '{"key": KEY, "status": "error", "reason": "grader"}'),
    ("a timeout", '{"key": KEY, "status": "timeout", "reason": "deadline"}'),
    ("passed with a reason", '{"key": KEY, "status": "passed", "reason": "hazard"}'),
    ("failed without one", '{"key": KEY, "status": "failed", "reason": null}'),
    ("no status", '{"key": KEY}'),
    ("a strange status", '{"key": KEY, "status": ["passed"], "reason": {}}'),
]


@pytest.mark.parametrize("text", [each[1] for each in STRANGE], ids=[each[0] for each in STRANGE])
def test_a_strange_entry_is_ignored_and_written_anew(
    file: Path, checked: list[str], text: str
) -> None:
    file.write_text(WRONG)
    entry().parent.mkdir(parents=True)
    text = text.replace("KEY", json.dumps(key_of(TOY)))
    entry().write_bytes(text.encode(errors="surrogateescape"))
    assert statuses()[0] == "failed" and TOY.name in checked
    checked.clear()
    assert statuses()[0] == "failed" and TOY.name not in checked


def test_nobody_is_graded_by_what_is_kept(answers: Path, file: Path) -> None:
    file.write_text(WRONG)
    keep(key_of(TOY), TOY, Verdict(TOY.name, "passed", None, 10, 10, SAID))
    assert statuses()[0] == "passed"
    assert not check("plus_ten").passed
    assert not grade()[0].passed and not grade(answers)[0].passed
    (lesson,) = progress(answers)
    assert lesson.passed == 0


def _file_in_the_way(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state.write_text("a file")


def _folder_in_the_way(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (state / "verdicts" / f"{TOY.name}.json").mkdir(parents=True)


def _read_only(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Root may write into a folder that forbids it, so the system's refusal is played.
    def refused(path: Path, text: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(workspace, "write_text", refused)


@pytest.mark.parametrize("broken", [_file_in_the_way, _folder_in_the_way, _read_only])
def test_where_nothing_can_be_kept_all_is_checked(
    file: Path, checked: list[str], monkeypatch: pytest.MonkeyPatch, broken: object
) -> None:
    broken(workspace.state_folder(), monkeypatch)  # type: ignore[operator]
    file.write_text(toy.RIGHT)
    assert statuses()[0] == statuses()[0] == "passed"
    assert checked.count(TOY.name) == 2
    assert check_own(TOY).passed


def test_what_is_no_file_has_no_key(answers: Path, file: Path) -> None:
    assert key_of(TOY) is None
    file.mkdir()
    assert key_of(TOY) is None and statuses()[0] == "failed"
    file.rmdir()
    file.write_bytes(b"#" * (1 + verdict_cache.MAX_SOURCE_BYTES))
    assert key_of(TOY) is None and statuses()[0] == "failed"


def test_a_key_belongs_to_one_puzzle_and_one_text(answers: Path, file: Path) -> None:
    file.write_text(toy.RIGHT)
    (answers / f"{PAIR.name}.py").write_text(toy.RIGHT)
    keys = {key_of(TOY), key_of(PAIR)}
    file.write_text(WRONG)
    keys.add(key_of(TOY))
    assert len(keys) == 3 and None not in keys
    file.write_text(toy.RIGHT)
    assert key_of(TOY) in keys


def test_several_at_once_leave_a_whole_entry(file: Path) -> None:
    file.write_text(toy.RIGHT)
    key = key_of(TOY)
    said = [
        Verdict(TOY.name, "passed", None, 10, 10, SAID),
        Verdict(TOY.name, "failed", "wrong-result", 0, 10, SAID),
    ]
    seen: list[Verdict | None] = []

    def work(verdict: Verdict) -> None:
        for _ in range(30):
            keep(key, TOY, verdict)
            seen.append(kept(key, TOY))

    threads = [threading.Thread(target=work, args=(verdict,)) for verdict in said]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 60 and None not in seen
    assert [path.name for path in entry().parent.iterdir()] == [entry().name]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of two files, as old as the hills."""
    folder = tmp_path / "package"
    (folder / "room").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "room" / "rule.py").write_text("LIMIT = 1\n")
    for path in _files(folder):
        os.utime(path, (1e9, 1e9))
    return folder


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def test_the_fingerprint_holds_every_file_of_the_package(package: Path) -> None:
    later = time.time() + 3600
    seen = {fingerprint(package, later), fingerprint(package, later)}
    assert len(seen) == 1
    rule = package / "room" / "rule.py"
    rule.write_text("LIMIT = 2\n")
    seen.add(fingerprint(package, later))
    rule.rename(rule.with_name("other.py"))
    seen.add(fingerprint(package, later))
    (package / "stubs.json").write_text("{}")
    seen.add(fingerprint(package, later))
    assert len(seen) == 4 and None not in seen
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "rule.pyc").write_bytes(b"\0")
    assert fingerprint(package, later) in seen


def test_the_fingerprint_holds_the_libraries(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fingerprint(package, time.time())
    versions = {"numpy": "2.2.0", "numba": "0.61", "torch": "2.9"}
    seen = {before}
    for name in versions:
        monkeypatch.setattr(
            verdict_cache, "_version", lambda library, name=name: "9" if library == name else "1"
        )
        seen.add(fingerprint(package, time.time()))
    monkeypatch.setattr(verdict_cache.sys, "version", "3.99")
    seen.add(fingerprint(package, time.time()))
    assert len(seen) == 5
    monkeypatch.undo()
    assert verdict_cache._version("no-such-library") == "none"


def test_a_course_changed_since_it_was_loaded_has_no_fingerprint(package: Path) -> None:
    loaded_at = 1.5e9
    assert fingerprint(package, loaded_at) is not None
    os.utime(package / "room" / "rule.py", (2e9, 2e9))
    assert fingerprint(package, loaded_at) is None
