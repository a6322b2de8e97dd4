"""`gpu-course update`: a newer course, with what a learner wrote left as it is.

Git brings the new files and is never asked to merge. Each file that the course changed is looked
at by itself: where the learner's copy is the one the course gave, the new one takes its place. An
answer or a notebook that the learner changed stays, and the new edition is put beside it. Any other
file of theirs is kept in .gpu_course/backups/ and replaced, since a course of two versions does not
run. Then the branch is set to the new version. Doing it twice does no harm, also after it was ended
halfway.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from gpu_course.errors import CourseError

FETCH_S = 120.0
_ANSWER = re.compile(r"puzzles/(\d\d_\w+)/(\w+)\.py")
_NOTEBOOK = re.compile(r"notebooks/\d\d_\w+\.ipynb")


@dataclass
class Update:
    """What an update did, by paths from the checkout's root.

    Attributes:
        before, after: the version, as git names it; equal where there was nothing new.
        replaced: files that are now the course's new ones.
        kept: {a file of the learner's that stays: where its new edition lies, "" if it has none}.
        backed_up: {a changed file that was replaced: where the learner's copy lies}.
        branch: where commits of the learner's own are kept, or "".
    """

    before: str
    after: str
    replaced: list[str] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)
    backed_up: dict[str, str] = field(default_factory=dict)
    branch: str = ""

    def text(self) -> str:
        """Returns what was done, for a learner."""
        if self.before == self.after:
            return "The course is up to date."
        lines = [f"The course is updated: {len(self.replaced)} files are new or newer."]
        for path, new in self.kept.items():
            answer = _ANSWER.fullmatch(path)
            what = "your answer" if answer else "your notebook, with what you did in it,"
            lines.append(f"{path}: {what} stays.")
            if new:
                lines.append(f"  new:    {new}")
            if new and answer:
                name = answer[2]
                lines.append(f"  try:    `gpu-course reset {name}` takes it and backs yours up")
        for path, copy in self.backed_up.items():
            lines += [f"{path}: the course's new file is there.", f"  yours:  {copy}"]
        if self.branch:
            lines.append(f"Commits of your own are kept on the branch {self.branch}.")
        lines.append("Start `make lab` again: it installs what the new version needs.")
        return "\n".join(lines)


def update(root: Path) -> Update:
    """Brings the newest course into a checkout and returns what was done.

    Raises:
        CourseError: no git, no checkout made by it, nowhere to update from, or out of reach.
            Nothing has been changed then.
    """
    git = _Git(root)
    git.check()
    new = git.fetched()
    old = git.run("rev-parse", "HEAD").strip()
    base = git.run("merge-base", old, new, ok=(0, 1)).strip()
    done = Update(git.short(old), git.short(new))
    if base == new:
        # Nothing new, whether or not there are commits of the learner's own.
        done.after = done.before
        return done
    git.settle_conflicts(lambda path: _keep_copy(root, path))
    given, wanted = git.files(base or old), git.files(new)
    here = git.hashes([path for path in {*given, *wanted} if (root / path).is_file()])
    write, remove = [], []
    for path in sorted({*given, *wanted}):
        if given.get(path) == wanted.get(path):
            continue
        is_own = path in here and here[path] not in (given.get(path), wanted.get(path))
        if is_own and (_ANSWER.fullmatch(path) or _NOTEBOOK.fullmatch(path)):
            done.kept[path] = _beside(git, path, new) if path in wanted else ""
            continue
        if is_own or _is_in_the_way(root / path):
            done.backed_up[path] = _keep_copy(root, path)
        if path in wanted:
            done.replaced.append(path)
            if here.get(path) != wanted[path]:
                write.append(path)
        elif path in here:
            remove.append(path)
    if base != old:
        done.branch = f"before-update-{datetime.now():%Y%m%d-%H%M%S}"
        git.run("branch", done.branch, old)
    for path in remove:
        (root / path).unlink(missing_ok=True)
    git.take(new, write)
    git.run("reset", "--mixed", "--quiet", new)
    return done


class _Git:
    """Git in one checkout, asking nobody anything.

    Args:
        root: the checkout.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, *arguments: str, given: str = "", ok: tuple[int, ...] = (0,)) -> str:
        """Returns what git says on its standard output.

        Raises:
            CourseError: it ended with a status that is not `ok`, with its own words.
        """
        quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_SSH_COMMAND": "ssh -oBatchMode=yes"}
        try:
            done = subprocess.run(
                ["git", "-C", str(self.root), "-c", "core.quotePath=off", *arguments],
                input=given.encode(errors="surrogateescape"),
                capture_output=True,
                timeout=FETCH_S,
                check=False,
                env={**os.environ, **quiet, "LC_ALL": "C"},
            )
        except FileNotFoundError:
            raise CourseError(
                "git is not installed, and updates of the course come by it", "install git"
            ) from None
        except subprocess.TimeoutExpired:
            raise _out_of_reach("it did not answer in time") from None
        if done.returncode not in ok:
            said = done.stderr.decode(errors="replace").strip()
            if arguments[0] == "fetch":
                raise _out_of_reach(said.splitlines()[-1] if said else "")
            raise CourseError(f"git {arguments[0]} failed: {said}", "`git status` tells more")
        return done.stdout.decode(errors="surrogateescape")

    def check(self) -> None:
        """Sees that this is the root of a git checkout."""
        if not (self.root / ".git").exists():
            raise CourseError(
                f"{self.root} was not fetched by git, so there is nothing to update it from",
                "clone the course anew, and copy your puzzles/ and .gpu_course/ into it",
            )

    def fetched(self) -> str:
        """Returns the newest version of the branch this checkout follows, after fetching it."""
        upstream = self.run(
            "rev-parse", "--abbrev-ref", "--symbolic-full-name", "@{upstream}", ok=(0, 128)
        ).strip()
        remote, _, branch = upstream.partition("/")
        if not branch:
            remotes = self.run("remote").split()
            if not remotes:
                raise CourseError(
                    "this checkout has no remote to update from",
                    "`git remote add origin ADDRESS` names one",
                )
            remote = "origin" if "origin" in remotes else remotes[0]
            branch = "HEAD"
        self.run("fetch", "--quiet", "--no-tags", remote, branch)
        return self.run("rev-parse", "FETCH_HEAD").strip()

    def short(self, version: str) -> str:
        """Returns a version as people write it."""
        return self.run("rev-parse", "--short", version).strip()

    def files(self, version: str) -> dict[str, str]:
        """Returns {path: hash} of a version."""
        listed = self.run("ls-tree", "-r", "-z", version).split("\0")
        entries = (line.partition("\t") for line in listed if line)
        return {path: about.split()[2] for about, _, path in entries}

    def hashes(self, paths: list[str]) -> dict[str, str]:
        """Returns {path: hash} of files as they are, with the line ends git would store."""
        said = self.run("hash-object", "--stdin-paths", given="\n".join(paths) + "\n")
        return dict(zip(paths, said.split(), strict=True)) if paths else {}

    def text(self, version: str, path: str) -> bytes:
        """Returns a file of a version."""
        return self.run("show", f"{version}:{path}").encode(errors="surrogateescape")

    def take(self, version: str, paths: list[str]) -> None:
        """Writes files of a version."""
        if paths:
            options = ("--pathspec-from-file=-", "--pathspec-file-nul")
            literal = "\0".join(f":(literal){path}" for path in paths)
            self.run("checkout", "--quiet", version, *options, given=literal)

    def settle_conflicts(self, keep: Callable[[str], object]) -> None:
        """Gives files that an earlier merge left in conflict back as the learner had them."""
        listed = self.run("ls-files", "--unmerged", "-z").split("\0")
        ours = {line.split("\t")[1] for line in listed if line and line.split()[2] == "2"}
        for path in sorted(ours):
            keep(path)
            (self.root / path).write_bytes(
                self.run("show", f":2:{path}").encode(errors="surrogateescape")
            )


def _out_of_reach(said: str) -> CourseError:
    return CourseError(
        f"the place the course comes from cannot be reached: {said}".rstrip(": "),
        "check that this machine is online, and try again; nothing was changed",
    )


def _is_in_the_way(path: Path) -> bool:
    """True for a folder or a dead link where a file of the course belongs."""
    return path.is_dir() or (path.is_symlink() and not path.exists())


def _beside(git: _Git, path: str, version: str) -> str:
    """Writes a new edition where the learner finds it; returns where, from the root.

    A stub goes to .gpu_course/new/, a notebook beside the learner's. There, an earlier new edition
    in which the learner has worked stays too.
    """
    text = git.text(version, path)
    file = git.root / path
    store = git.root / ".gpu_course" / "new" / file.parent.name
    store.mkdir(parents=True, exist_ok=True)
    if _ANSWER.fullmatch(path):
        target = store / file.name
    else:
        number = 1
        while True:
            target = file.with_name(f"{file.stem}.new{'' if number == 1 else f'-{number}'}.ipynb")
            as_it_came = store / target.name
            if (
                not target.exists()
                or target.read_bytes() == text
                or (as_it_came.is_file() and as_it_came.read_bytes() == target.read_bytes())
            ):
                break
            number += 1
        as_it_came.write_bytes(text)
    target.write_bytes(text)
    return target.relative_to(git.root).as_posix()


def _keep_copy(root: Path, path: str) -> str:
    """Moves or copies what stands at a path into backups/; returns where, from the root."""
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S-%f")
    target = root / ".gpu_course" / "backups" / f"update-{stamp}" / path
    target.parent.mkdir(parents=True, exist_ok=True)
    source = root / path
    if _is_in_the_way(source):
        source.rename(target)
    else:
        target.write_bytes(source.read_bytes())
    return target.relative_to(root).as_posix()
