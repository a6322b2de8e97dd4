"""`gpu-course update`: the course's remote changes underneath a learner, who loses nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpu_course import commands
from gpu_course.app import updating
from gpu_course.app.updating import Update, update
from gpu_course.errors import CourseError

posix = pytest.mark.skipif(os.name != "posix", reason="links and signals as on POSIX")
GUARD, BLOCKS = "puzzles/01_threads/guard.py", "puzzles/01_threads/blocks.py"
LESSON = "notebooks/01_threads.ipynb"
FIRST = {
    "pyproject.toml": "",
    "gpu_course/__init__.py": "version = 1\n",
    "gpu_course/old.py": "old\n",
    "README.md": "one\n",
    GUARD: "stub 1\n",
    BLOCKS: "stub 1\n",
    LESSON: '{"edition": 1}\n',
    "notebooks/02_warps.ipynb": '{"edition": 1}\n',
}
SECOND = {
    **{path: text for path, text in FIRST.items() if path != "gpu_course/old.py"},
    "gpu_course/__init__.py": "version = 2\n",
    "README.md": "two\n",
    GUARD: "stub 2\n",
    BLOCKS: "stub 2\n",
    LESSON: '{"edition": 2}\n',
    "notebooks/02_warps.ipynb": '{"edition": 2}\n',
    "puzzles/02_warps/new \u00e4.py": "a new stub\n",
}


def git(folder: Path, *arguments: str) -> str:
    identity = [
        "-c",
        "user.name=Ada",
        "-c",
        "user.email=ada@example.org",
        "-c",
        "commit.gpgsign=no",
    ]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def write(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())


@pytest.fixture
def publish(tmp_path: Path):
    """Publishes an edition of the course; the remote is a bare repository."""
    author, remote = tmp_path / "author", tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "-b", "main", str(author))
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(remote))

    def publish_edition(files: dict[str, str], *options: str) -> None:
        for path in author.rglob("*"):
            if path.is_file() and ".git" not in path.parts:
                path.unlink()
        write(author, {**files, ".gitignore": ".gpu_course/\n"})
        git(author, "add", "-A")
        git(author, "commit", "-q", "-m", "an edition", *options)
        git(author, "push", "-q", "--force", str(remote), "main")

    publish_edition(FIRST)
    return publish_edition


@pytest.fixture
def course(publish, tmp_path: Path) -> Path:
    """A learner's clone of the first edition."""
    git(tmp_path, "clone", "-q", str(tmp_path / "remote.git"), "course")
    return tmp_path / "course"


def files_of(course: Path) -> dict[str, str]:
    return {
        path.relative_to(course).as_posix(): path.read_text()
        for path in course.rglob("*")
        if path.is_file() and not {".git", ".gpu_course", ".gitignore"} & set(path.parts)
    }


def test_what_a_learner_did_not_touch_is_the_new_edition(publish, course: Path) -> None:
    publish(SECOND)
    done = update(course)
    assert files_of(course) == SECOND
    assert not done.kept and not done.backed_up and not done.branch
    assert git(course, "status", "--porcelain") == ""
    assert update(course).text() == "The course is up to date."


def test_answers_and_notebooks_stay_and_the_new_ones_are_named(publish, course: Path) -> None:
    mine = {GUARD: "my answer\n", LESSON: '{"edition": 1, "outputs": "mine"}\n'}
    write(course, mine)
    publish(SECOND)
    text = update(course).text()
    new_stub, new_lesson = ".gpu_course/new/01_threads/guard.py", "notebooks/01_threads.new.ipynb"
    assert files_of(course) == {**SECOND, **mine, new_lesson: SECOND[LESSON]}
    assert (course / new_stub).read_text() == SECOND[GUARD]
    assert f"{GUARD}: your answer stays.\n  new:    {new_stub}" in text
    assert (
        f"{LESSON}: your notebook, with what you did in it, stays.\n  new:    {new_lesson}" in text
    )
    # What git shows of it is the learner's work, with no conflict and no merge under way.
    changed = git(course, "status", "--porcelain").splitlines()
    assert sorted(line.split()[-1] for line in changed) == sorted([*mine, new_lesson])
    assert not (course / ".git" / "MERGE_HEAD").exists()


def test_the_edition_after_that_keeps_them_again(publish, course: Path) -> None:
    write(course, {LESSON: "mine"})
    publish(SECOND)
    update(course)
    publish({**SECOND, LESSON: "edition 3", BLOCKS: "stub 3"})
    update(course)
    assert (course / LESSON).read_text() == "mine"
    # The first new edition was not touched, so there is one, and it is the newest.
    assert (course / "notebooks/01_threads.new.ipynb").read_text() == "edition 3"
    write(course, {"notebooks/01_threads.new.ipynb": "worked in"})
    publish({**SECOND, LESSON: "edition 4"})
    done = update(course)
    assert (course / "notebooks/01_threads.new.ipynb").read_text() == "worked in"
    assert done.kept[LESSON] == "notebooks/01_threads.new-2.ipynb"
    assert (course / done.kept[LESSON]).read_text() == "edition 4"


OTHER = {
    "a changed file of the package": ("gpu_course/__init__.py", "hacked\n"),
    "a file that the course drops": ("gpu_course/old.py", "hacked\n"),
    "a file where a new one comes": ("puzzles/02_warps/new \u00e4.py/mine.txt", "a folder\n"),
}


@pytest.mark.parametrize(("path", "text"), OTHER.values(), ids=OTHER)
def test_any_other_file_is_backed_up_and_replaced(
    publish, course: Path, path: str, text: str
) -> None:
    write(course, {path: text})
    publish(SECOND)
    done = update(course)
    assert files_of(course) == SECOND
    (copy,) = done.backed_up.values()
    kept = [p for p in (course / ".gpu_course" / "backups").rglob("*") if p.is_file()]
    assert [each.read_text() for each in kept] == [text] and copy in done.text()


def test_an_answer_that_the_course_drops_stays(publish, course: Path) -> None:
    write(course, {GUARD: "mine\n"})
    publish({path: text for path, text in SECOND.items() if path != GUARD})
    assert update(course).kept == {GUARD: ""}
    assert (course / GUARD).read_text() == "mine\n"


def test_a_file_that_a_learner_removed_comes_back(publish, course: Path) -> None:
    (course / LESSON).unlink()
    publish(SECOND)
    update(course)
    assert files_of(course) == SECOND


def test_commits_of_the_learner_s_own_are_kept_on_a_branch(publish, course: Path) -> None:
    write(course, {GUARD: "committed\n", "README.md": "mine\n"})
    git(course, "commit", "-q", "-am", "mine")
    mine = git(course, "rev-parse", "HEAD")
    publish(SECOND)
    done = update(course)
    assert git(course, "rev-parse", done.branch) == mine and done.branch in done.text()
    assert (course / GUARD).read_text() == "committed\n"
    assert (course / "README.md").read_text() == "two\n"
    assert (course / done.backed_up["README.md"]).read_text() == "mine\n"


def test_a_pull_that_ended_in_a_conflict_is_forgotten(publish, course: Path) -> None:
    write(course, {GUARD: "my answer\n"})
    git(course, "commit", "-q", "-am", "mine")
    publish(SECOND)
    git(course, "fetch", "-q")
    with pytest.raises(subprocess.CalledProcessError):
        git(course, "merge", "-q", "origin/main")
    assert "<<<<<<<" in (course / GUARD).read_text()
    update(course)
    assert files_of(course) == {**SECOND, GUARD: "my answer\n"}
    assert git(course, "ls-files", "--unmerged") == ""


def test_a_course_whose_history_was_written_anew_is_taken(publish, course: Path) -> None:
    write(course, {GUARD: "mine\n"})
    publish(SECOND, "--amend")
    update(course)
    assert files_of(course) == {**SECOND, GUARD: "mine\n"}


def test_without_a_branch_to_follow_the_remote_s_own_is_taken(publish, course: Path) -> None:
    git(course, "checkout", "-q", "--detach")
    publish(SECOND)
    update(course)
    assert files_of(course) == SECOND


def test_ended_halfway_and_run_again_it_comes_to_the_same(
    publish, course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = {GUARD: "mine\n"}
    write(course, mine)
    publish(SECOND)
    take = updating._Git.take

    def half(self, version: str, paths: list[str]) -> None:
        take(self, version, paths[: len(paths) // 2])
        raise KeyboardInterrupt

    monkeypatch.setattr(updating._Git, "take", half)
    with pytest.raises(KeyboardInterrupt):
        update(course)
    monkeypatch.setattr(updating._Git, "take", take)
    done = update(course)
    assert files_of(course) == {**SECOND, **mine} and not done.backed_up


FOLDERS = {
    "a file where a lesson comes": ("puzzles/02_warps", "mine\n"),
    "a file where a part of the package comes": ("gpu_course/new", "mine\n"),
    "an answer where a folder comes": (BLOCKS, "mine\n"),
}


@pytest.mark.parametrize(("path", "text"), FOLDERS.values(), ids=FOLDERS)
def test_a_learner_s_file_where_the_course_has_a_folder_is_kept(
    publish, course: Path, path: str, text: str
) -> None:
    write(course, {path: text})
    third = {p: t for p, t in SECOND.items() if p != path}
    third[f"{path}/inside.py"] = "the course's\n"
    publish(third)
    done = update(course)
    assert files_of(course) == third
    assert (course / done.backed_up[path]).read_text() == text
    assert f"{path}: the course's own is there.\n  yours:  .gpu_course/backups/" in done.text()


def test_a_file_of_the_course_that_becomes_a_folder_needs_no_copy(publish, course: Path) -> None:
    third = {p: t for p, t in SECOND.items() if p != BLOCKS}
    third[f"{BLOCKS}/inside.py"] = "the course's\n"
    publish(third)
    done = update(course)
    assert files_of(course) == third and not done.backed_up
    assert not list((course / ".gpu_course").rglob("*.py"))


@posix
def test_what_a_linked_folder_leads_to_is_left_alone(publish, course: Path, tmp_path: Path) -> None:
    (course / "puzzles").rename(tmp_path / "my puzzles")
    (course / "puzzles").symlink_to(tmp_path / "my puzzles")
    away = tmp_path / "my puzzles" / "01_threads"
    (away / "guard.py").write_text("mine\n")
    third = {path: text for path, text in SECOND.items() if path != BLOCKS}
    publish(third)
    done = update(course)
    assert (course / "puzzles").is_symlink()
    assert {path.name: path.read_text() for path in away.iterdir()} == {
        "guard.py": "mine\n",
        "blocks.py": "stub 1\n",
    }
    assert not (tmp_path / "my puzzles" / "02_warps").exists()
    assert (course / ".gpu_course" / "new" / GUARD).read_text() == "stub 2\n"
    assert "puzzles is a link, and nothing it leads to was changed." in done.text()
    assert (course / "README.md").read_text() == "two\n"
    assert update(course).text() == "The course is up to date."


@posix
def test_a_linked_answer_is_an_answer_of_the_learner_s(
    publish, course: Path, tmp_path: Path
) -> None:
    (course / GUARD).rename(tmp_path / "guard.py")
    (course / GUARD).symlink_to(tmp_path / "guard.py")
    publish(SECOND)
    done = update(course)
    assert (course / GUARD).is_symlink() and (tmp_path / "guard.py").read_text() == "stub 1\n"
    assert GUARD in done.kept


@posix
def test_a_linked_package_is_refused_before_anything_is_changed(
    publish, course: Path, tmp_path: Path
) -> None:
    (course / "gpu_course").rename(tmp_path / "package")
    (course / "gpu_course").symlink_to(tmp_path / "package")
    publish(SECOND)
    with pytest.raises(CourseError, match=r"gpu_course is a link here(.|\n)*nothing was changed"):
        update(course)
    assert (course / "README.md").read_text() == "one\n"
    assert (tmp_path / "package" / "old.py").read_text() == "old\n"


@pytest.mark.parametrize("dropped", [True, False])
def test_what_is_saved_while_the_course_is_updated_is_kept(
    publish, course: Path, monkeypatch: pytest.MonkeyPatch, dropped: bool
) -> None:
    third = {path: text for path, text in SECOND.items() if not dropped or path != GUARD}
    publish(third)
    hashes = updating._Git.hashes

    def late(self, paths: list[str]) -> dict[str, str]:
        found = hashes(self, paths)
        (course / GUARD).write_text("saved meanwhile\n")
        return found

    monkeypatch.setattr(updating._Git, "hashes", late)
    done = update(course)
    assert files_of(course) == third
    assert (course / done.backed_up[GUARD]).read_text() == "saved meanwhile\n"
    assert list(done.backed_up) == [GUARD]


def test_a_lock_that_a_git_has_left_is_named_before_anything_is_changed(
    publish, course: Path
) -> None:
    publish(SECOND)
    lock = course / ".git" / "index.lock"
    lock.touch()
    with pytest.raises(CourseError, match=r"index\.lock is there\n.*`rm \.git/index\.lock`"):
        update(course)
    assert files_of(course) == FIRST
    lock.unlink()
    update(course)
    assert files_of(course) == SECOND


SLOW_GIT = """#!/bin/sh
trap 'rm -f "$LOCK"; exit 1' TERM
case "$*" in
  *fetch*) touch "$LOCK"; echo ready > "$READY"; while true; do sleep 0.05; done;;
  *) exec "$GIT" "$@";;
esac
"""


@posix
@pytest.mark.parametrize("way", ["it takes too long", "Ctrl-C"])
def test_a_git_that_is_ended_puts_its_lock_away(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    lock, ready = course / ".git" / "some.lock", tmp_path / "ready"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(SLOW_GIT)
    (tmp_path / "bin" / "git").chmod(0o755)
    for name, value in {"LOCK": lock, "READY": ready, "GIT": shutil.which("git")}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    communicate = subprocess.Popen.communicate

    def interrupted(self, *arguments, timeout=None):
        if timeout != updating.FETCH_S:
            return communicate(self, *arguments, timeout=timeout)
        while not ready.exists():
            pass
        assert lock.exists()
        raise KeyboardInterrupt if way == "Ctrl-C" else subprocess.TimeoutExpired("git", timeout)

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt if way == "Ctrl-C" else CourseError):
        update(course)
    assert not lock.exists()


def test_offline_it_says_so_and_changes_nothing(course: Path, tmp_path: Path) -> None:
    (tmp_path / "remote.git").rename(tmp_path / "away.git")
    write(course, {GUARD: "mine\n"})
    with pytest.raises(CourseError, match=r"cannot be reached(.|\n)*nothing was changed"):
        update(course)
    assert files_of(course) == {**FIRST, GUARD: "mine\n"}


def test_a_copy_that_git_did_not_make_is_told_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"was not fetched by git(.|\n)*copy your puzzles/"):
        update(tmp_path)


def test_a_checkout_with_no_remote_is_told_what_to_do(course: Path) -> None:
    git(course, "remote", "remove", "origin")
    with pytest.raises(CourseError, match="has no remote to update from"):
        update(course)


def test_the_command_says_what_was_done(
    publish, course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(course / "notebooks")
    publish(SECOND)
    result = CliRunner().invoke(commands.app, ["update"])
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("The course is updated: ")
    assert Update("a", "a").text() == "The course is up to date."
