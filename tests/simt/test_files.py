"""Files are written whole, and what stood in their place is handed back."""

from __future__ import annotations

import errno
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from simt import files

posix = pytest.mark.skipif(os.name != "posix", reason="links, rights and pipes as on POSIX")


def refuse(code: int) -> Callable[..., None]:
    def refused(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    return refused


@pytest.fixture(params=["in one step", "by moving aside", "without links"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How two files change places on this system, and on systems that can do less."""
    if request.param == "in one step":
        if sys.platform not in ("linux", "darwin"):
            pytest.skip("there is no such step here")
    else:
        monkeypatch.setattr(files, "_swapped", refuse(errno.EINVAL))
    if request.param == "without links":
        monkeypatch.setattr(os, "link", refuse(errno.EPERM))
    return str(request.param)


def put(path: Path, data: bytes) -> list[bytes]:
    """What was there when it was written over."""
    old = files.exchange(path, data)
    found = [each.read_bytes() for each in old]
    for each in old:
        each.unlink()
    return found


def test_what_was_there_is_handed_back(way: str, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    assert put(path, b"one") == []
    assert put(path, b"two") == [b"one"]
    assert put(path, b"") == [b"two"]
    assert path.read_bytes() == b"" and list(tmp_path.iterdir()) == [path]


def test_a_save_at_the_last_moment_is_handed_back(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"seen")
    step = "_swapped" if way == "in one step" else "_moved_aside"
    swap = getattr(files, step)

    def late(*arguments: Path) -> object:
        (tmp_path / "b.py").write_bytes(b"saved by an editor")
        os.replace(tmp_path / "b.py", path)
        return swap(*arguments)

    monkeypatch.setattr(files, step, late)
    assert put(path, b"new") == [b"saved by an editor"]
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]


def test_a_save_into_the_gap_is_handed_back_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"seen")
    monkeypatch.setattr(files, "_swapped", refuse(errno.ENOSYS))
    once: Iterator[bytes] = iter([b"saved into the gap"])
    move = files._moved_aside

    def slow(path: Path) -> list[Path]:
        moved = move(path)
        for data in once:
            path.write_bytes(data)
            break
        return moved

    monkeypatch.setattr(files, "_moved_aside", slow)
    assert put(path, b"new") == [b"seen", b"saved into the gap"]
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]


def test_many_who_write_at_once_lose_nothing(way: str, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    texts = [f"text {number}".encode() for number in range(24)]
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda t=t: found.extend(put(path, t))) for t in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted([*found, path.read_bytes()]) == sorted(texts)


@pytest.mark.parametrize("write", [files.write_bytes, put])
@pytest.mark.parametrize("step", ["fsync", "chmod"])
def test_what_fails_leaves_the_old_file_and_nothing_beside_it(
    write: Callable[[Path, bytes], object],
    step: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    with monkeypatch.context() as patch:
        patch.setattr(os, step, refuse(errno.ENOSPC))
        with pytest.raises(OSError, match="No space left") as caught:
            write(path, b"new")
        assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


@posix
def test_rights_links_and_pipes_stay_what_they_are(tmp_path: Path) -> None:
    path, link = tmp_path / "a.py", tmp_path / "link.py"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    files.write_bytes(link, b"new")
    assert put(link, b"newer") == [b"new"]
    assert link.is_symlink() and path.read_bytes() == b"newer"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    # A link that leads to no file yet makes that file; to no folder, it says so.
    path.unlink()
    files.write_bytes(link, b"there")
    assert link.is_symlink() and path.read_bytes() == b"there"
    away = tmp_path / "away.py"
    away.symlink_to(tmp_path / "not mounted" / "a.py")
    for write in (files.write_bytes, put):
        with pytest.raises(FileNotFoundError, match="leads nowhere"):
            write(away, b"new")
    assert away.is_symlink() and not (tmp_path / "not mounted").exists()
    # What a link leads to that is no file stays: there may be one /dev/zero for the whole machine.
    pipe, folder = tmp_path / "pipe", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    for target in (pipe, folder):
        leading = tmp_path / f"to_{target.name}.py"
        leading.symlink_to(target)
        (aside,) = files.exchange(leading, b"new")
        assert aside.is_symlink() and leading.read_bytes() == b"new"
        assert not leading.is_symlink()
    assert stat.S_ISFIFO(pipe.stat().st_mode) and folder.is_dir()
    reading, writing = os.pipe()
    files.write_bytes(Path(f"/dev/fd/{writing}"), b"through")
    assert os.read(reading, 100) == b"through"
    os.close(reading)
    os.close(writing)


@posix
@pytest.mark.parametrize("name", ["two\nlines.py", "x" * 250, "caf\u00e9 #%.py", "-rf.py"])
def test_any_name_will_do(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    files.write_text(path, "one")
    assert put(path, b"two") == [b"one"]
    assert list(tmp_path.iterdir()) == [path]


def test_what_no_file_can_hold_is_written_as_an_escape(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    files.write_text(path, "a\ud800b")
    assert path.read_bytes() == rb"a\ud800b"
    files.write_text(path, "a\udcffb")
    assert path.read_bytes() == b"a\xffb"
