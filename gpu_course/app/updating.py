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
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath

from gpu_course.errors import CourseError
from simt import files

FETCH_S, GRACE_S = 120.0, 10.0
_NEW = ".gpu_course/new"
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
        linked: {a folder that is a link, through which nothing was changed: where the new files
            lie}.
        branch: where commits of the learner's own are kept, or "".
    """

    before: str
    after: str
    replaced: list[str] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)
    backed_up: dict[str, str] = field(default_factory=dict)
    linked: dict[str, str] = field(default_factory=dict)
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
            lines += [f"{path}: the course's own is there.", f"  yours:  {copy}"]
        for path, new in self.linked.items():
            lines += [f"{path} is a link, and nothing it leads to was changed.", f"  new:    {new}"]
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
    given, wanted = git.files(base or old), git.files(new)
    changed = [p for p in sorted({*given, *wanted}) if given.get(p) != wanted.get(p)]
    folders = {str(each) for p in changed if p in wanted for each in PurePosixPath(p).parents}
    links = _links_on_the_way(root, changed)
    git.settle_conflicts(lambda path: _keep_copy(root, path))
    here = git.hashes([path for path in changed if (root / path).is_file()])
    write, remove = [], []
    for path in changed:
        link = next((each for each in links if path.startswith(f"{each}/")), None)
        if link is not None:
            # What a link leads to is the learner's, wherever it lies.
            done.linked[link] = _NEW
            if path in wanted:
                _lay_down(git, path, new)
            continue
        known = (given.get(path), wanted.get(path))
        is_own = path in here and ((root / path).is_symlink() or here[path] not in known)
        if is_own and _is_the_learner_s(path) and path not in folders:
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
    for folder in sorted(folders - given.keys()):
        if os.path.lexists(root / folder) and not (root / folder).is_dir():
            done.backed_up[folder] = _moved_to_backups(root, root / folder, folder)
    if base != old:
        done.branch = f"before-update-{datetime.now():%Y%m%d-%H%M%S}"
        git.run("branch", done.branch, old)
    for path in remove:
        _discard(git, path, root / path, here[path], done)
    for path in [each for each in write if each in here and _is_the_learner_s(each)]:
        for old_file in files.exchange(root / path, git.as_here(new, path)):
            _discard(git, path, old_file, here[path], done)
    git.take(new, [path for path in write if path not in here or not _is_the_learner_s(path)])
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
        command = ["git", "-C", str(self.root), "-c", "core.quotePath=off", *arguments]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **quiet, "LC_ALL": "C"},
                # Neither Ctrl-C nor a terminal that closes ends it in the middle of a step.
                start_new_session=True,
            )
        except FileNotFoundError:
            raise CourseError(
                "git is not installed, and the course is updated with git", "install git"
            ) from None
        with process:
            try:
                out, err = process.communicate(
                    given.encode(errors="surrogateescape"),
                    timeout=FETCH_S if arguments[0] == "fetch" else None,
                )
            except subprocess.TimeoutExpired:
                _end(process)
                raise _out_of_reach("it did not answer in time") from None
            except BaseException:
                _end(process)
                raise
        if process.returncode not in ok:
            said = err.decode(errors="replace").strip()
            if arguments[0] == "fetch":
                raise _out_of_reach(said.splitlines()[-1] if said else "")
            raise CourseError(f"git {arguments[0]} failed: {said}", "`git status` tells more")
        return out.decode(errors="surrogateescape")

    def check(self) -> None:
        """Sees that this is the root of a git checkout."""
        if not (self.root / ".git").exists():
            raise CourseError(
                f"{self.root} was not fetched by git, so there is nothing to update it from",
                "clone the course anew, and copy your puzzles/ and .gpu_course/ into it",
            )
        lock = Path(self.run("rev-parse", "--git-path", "index.lock").strip())
        if (self.root / lock).exists():
            raise CourseError(
                f"another git is running here, or one was stopped halfway: {lock} is there",
                f"wait for it; if no git runs, `rm {lock}`, and update again",
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

    def as_here(self, version: str, path: str) -> bytes:
        """Returns a file of a version as git would write it here, such as its line ends."""
        found = self.run("cat-file", "--filters", f"{version}:{path}")
        return found.encode(errors="surrogateescape")

    def hash_as(self, path: str, file: Path) -> str:
        """Returns the hash that a file would have at a path."""
        return self.run("hash-object", f"--path={path}", str(file)).strip()

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


def _end(process: subprocess.Popen[bytes]) -> None:
    """Asks git to end: it puts its locks away then, and cannot when it is killed."""
    process.terminate()
    try:
        process.communicate(timeout=GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()


def _is_the_learner_s(path: str) -> bool:
    """True for an answer or a notebook, in which a learner works."""
    return bool(_ANSWER.fullmatch(path) or _NOTEBOOK.fullmatch(path))


def _links_on_the_way(root: Path, paths: Iterable[str]) -> list[str]:
    """Returns the folders on the way to some paths that are links.

    Raises:
        CourseError: one of them holds more than answers and notebooks.
    """
    folders = {str(each) for path in paths for each in PurePosixPath(path).parents}
    links = sorted(each for each in folders if (root / each).is_symlink() and each != ".")
    for link in links:
        if link.partition("/")[0] not in ("puzzles", "notebooks"):
            raise CourseError(
                f"{link} is a link here, and the course writes its files through no link",
                "put the folder itself there; nothing was changed",
            )
    return [link for link in links if (root / link).is_dir()]


def _lay_down(git: _Git, path: str, version: str) -> None:
    """Puts a file of a version where a learner finds it who has linked its folder away."""
    target = git.root / _NEW / path
    target.parent.mkdir(parents=True, exist_ok=True)
    files.write_bytes(target, git.as_here(version, path))


def _discard(git: _Git, path: str, file: Path, seen: str, done: Update) -> None:
    """Removes a file; what somebody has saved there since its hash was seen is kept."""
    aside = git.root / _moved_to_backups(git.root, file, path) if file.is_file() else None
    if aside is None:
        return
    if git.hash_as(path, aside) == seen:
        aside.unlink()
    else:
        done.backed_up[path] = aside.relative_to(git.root).as_posix()


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
    source = root / path
    if _is_in_the_way(source) or source.is_symlink():
        return _moved_to_backups(root, source, path)
    target = _place_in_backups(root, path)
    target.write_bytes(source.read_bytes())
    return target.relative_to(root).as_posix()


def _moved_to_backups(root: Path, file: Path, path: str) -> str:
    """Moves a file into backups/, where it is called by a path; returns where, from the root."""
    target = _place_in_backups(root, path)
    shutil.move(file, target)
    return target.relative_to(root).as_posix()


def _place_in_backups(root: Path, path: str) -> Path:
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S-%f")
    target = root / ".gpu_course" / "backups" / f"update-{stamp}" / path
    target.parent.mkdir(parents=True, exist_ok=True)
    return target
