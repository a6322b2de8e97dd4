"""%%ranks and %%rank: cells on ranks, what they show, what they keep, and that nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gpu_course.isolation import servers
from gpu_course.isolation.ranks import MAX_RANKS
from gpu_course.notebook.cells import ranks_magic
from gpu_course.notebook.cells.ranks_magic import SideBySide
from gpu_course.ranks.console import Shown, console
from tests.gpu_course.notebook.shells import Shell

pytestmark = [
    pytest.mark.long(17),
    pytest.mark.skipif(
        not servers.available(), reason="ranks are forked, which only Linux does safely"
    ),
]


@pytest.fixture
def interruptible() -> Iterator[None]:
    """What a kernel does by itself: a shell has what it starts in the background ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def ranked(shell: Shell) -> Iterator[Shell]:
    ranks_magic.register(shell.shell)
    yield shell
    console().close()


def test_each_rank_shows_its_own_beside_the_others(ranked: Shell) -> None:
    (shown,) = ranked.run("%%ranks 2\nprint('rank', rank, 'of', size)\nrank * 10")
    assert shown.splitlines() == [
        "rank 0        rank 1",
        "-----------   -----------",
        "rank 0 of 2   rank 1 of 2",
        "0             10",
    ]


def test_what_a_rank_holds_it_keeps_for_the_next_cell(ranked: Shell) -> None:
    assert ranked.run("%%ranks 3\nx = torch.ones(2, dtype=torch.float64) * rank") == []
    assert ranked.run("%%ranks\ndist.all_reduce(x)") == []
    (shown,) = ranked.run("%%ranks 3\nx[0].item()")
    assert shown.splitlines()[2].split() == ["3.0"] * 3
    (shown,) = ranked.run("%%rank 1\ny = 7\n(rank, y)")
    assert shown.splitlines() == ["rank 1", "------", "(1, 7)"]
    (shown,) = ranked.run("%%ranks\n'y' in globals()")
    assert shown.splitlines()[2].split() == ["False", "True", "False"]
    assert [call.kind for call in console().last.calls] == []


def test_another_number_starts_new_ones(ranked: Shell) -> None:
    ranked.run("%%ranks 2\nx = 1")
    (shown,) = ranked.run("%%ranks 3\nprint('x' in globals(), size)")
    assert shown.splitlines()[2].split() == ["False", "3"] * 3


def test_what_was_called_and_sent_is_at_hand(ranked: Shell) -> None:
    ranked.run("%%ranks 2\nx = torch.zeros(1000)")
    ranked.run("%%ranks\ndist.send(x, 1) if rank == 0 else dist.recv(x, 0)")
    last = console().last
    assert {(c.rank, c.kind, c.line, c.payload_bytes) for c in last.calls} == {
        (0, "send", 1, 4000),
        (1, "recv", 1, 4000),
    }
    if last.socket_bytes is not None:
        assert last.socket_bytes[0, 1] >= 4000


def test_a_cell_that_stands_still_is_ended_and_named(ranked: Shell) -> None:
    ranked.run("%%ranks 2\nprint('earlier')")
    cell = "print('now')\nif rank == 0:\n    dist.all_reduce(torch.ones(1))"
    shown, told = ranked.run(f"%%ranks 2\n{cell}")
    assert "now" in shown and "earlier" not in shown
    assert told.splitlines() == [
        "the run stands still: every rank that has not finished waits",
        "  rank 0 waits in all_reduce 0, line 3: dist.all_reduce(torch.ones(1))",
        "  rank 1 has finished",
        "The ranks have been ended, and what they held is gone; the next %%ranks starts new ones.",
    ]
    (shown,) = ranked.run("%%ranks\nsize")
    assert shown.splitlines()[2].split() == ["4"] * 4, "as many as are usual"


def test_calls_that_differ_are_named(ranked: Shell) -> None:
    cell = "dist.barrier() if rank else dist.all_reduce(torch.ones(1))"
    *_, told = ranked.run(f"%%ranks 2\n{cell}")
    assert told.startswith("collective 0 of ranks 0, 1 is all_reduce on rank 0 and barrier on")


def test_an_error_is_shown_with_its_line_and_the_ranks_stay(ranked: Shell) -> None:
    (shown,) = ranked.run("%%ranks 2\nx = 5\nif rank == 1:\n    x / 0")
    assert "ZeroDivisionError: division by zero" in shown and "line 3: x / 0" in shown
    (shown,) = ranked.run("%%ranks\nx")
    assert shown.splitlines()[2].split() == ["5", "5"]
    (shown,) = ranked.run("%%ranks\nfor")
    assert shown.count("SyntaxError") == 2


def test_who_waits_for_a_rank_that_raised_is_named(ranked: Shell) -> None:
    cell = "print('before')\nif rank == 1:\n    1 / 0\ndist.barrier()"
    shown, told = ranked.run(f"%%ranks 2\n{cell}")
    assert shown.count("before") == 2 and "ZeroDivisionError" in shown
    assert told.splitlines()[:2] == [
        "a rank raised an error, and others wait for it",
        "rank 0 waits in barrier 0, line 4",
    ]


def test_a_rank_that_ends_is_named(ranked: Shell) -> None:
    told = ranked.run("%%ranks 2\nimport os\nif rank == 1:\n    os._exit(3)")[-1]
    assert told.startswith("rank 1 ended with exit status 3")


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("%%ranks many\n1", "%%ranks takes ranks, not 'many'"),
        (f"%%ranks {MAX_RANKS + 1}\n1", f"ask for 1 to {MAX_RANKS}"),
        ("%%ranks 0\n1", "0 ranks"),
        ("%%rank 0\n1", "there are no ranks yet"),
        ("%%rank\n1", "%%rank takes the number of one rank"),
        ("%ranks 3", "write `%%ranks 4`, or `%ranks end`"),
    ],
)
def test_a_line_that_says_something_else(ranked: Shell, cell: str, says: str) -> None:
    (told,) = ranked.run(cell)
    assert says in told


def test_a_rank_that_is_not_there(ranked: Shell) -> None:
    ranked.run("%%ranks 2\n1")
    (told,) = ranked.run("%%rank 2\n1")
    assert "there is no rank 2" in told and "0 to 1" in told


@pytest.mark.usefixtures("interruptible")
def test_who_stops_a_cell_ends_the_ranks(ranked: Shell, tmp_path: Path) -> None:
    ranked.run("%%ranks 2\n1")
    pids = [process.pid for process in console()._world.processes]
    begun = tmp_path / "begun"

    def stop() -> None:
        while not begun.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=stop, daemon=True).start()
    with pytest.raises(KeyboardInterrupt, match="you stopped this cell"):
        ranked.run(f"%%ranks 2\nopen({str(begun)!r}, 'w')\nwhile True: pass")
    assert console().ranks == 0
    assert not any(psutil.pid_exists(pid) for pid in pids)


@pytest.mark.usefixtures("interruptible")
def test_a_cell_that_is_stopped_says_where_each_rank_stood(ranked: Shell, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    ranked.run(f"%%ranks 3\nimport pathlib, time\nbegun = pathlib.Path({str(begun)!r})")
    cell = "print('now')\nif rank == 1:\n    begun.touch(); time.sleep(60)\n"
    cell += "dist.all_reduce(torch.ones(1))"

    def stop() -> None:
        log = console()._world.log
        while not begun.exists() or None in (log.waits_for(0), log.waits_for(2)):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Thread(target=stop)
    timer.start()
    with pytest.raises(KeyboardInterrupt, match="you stopped this cell"):
        ranked.run(f"%%ranks 3\n{cell}")
    timer.join()
    assert str(console().last.trouble).splitlines() == [
        "where the ranks stood when the cell was stopped:",
        "  rank 0 waits in all_reduce 0, line 4: dist.all_reduce(torch.ones(1))",
        "  rank 1 is in no call, line 3: begun.touch(); time.sleep(60)",
        "  rank 2 waits in all_reduce 0, line 4: dist.all_reduce(torch.ones(1))",
    ]
    assert [shown.printed for shown in console().last.shown] == ["now\n"] * 3


def test_a_line_is_one_of_this_cell_and_not_of_an_earlier_one(ranked: Shell) -> None:
    ranked.run("%%ranks 2\n# first\ndef both(x):\n    dist.all_reduce(x)\n    return x[7]")
    (shown,) = ranked.run("%%ranks\n'one'\nboth(torch.ones(1))\n'two'\n'three'")
    assert "line 2: both(torch.ones(1))" in shown and "three" not in shown
    *_, told = ranked.run("%%ranks\nif rank == 0:\n    both(torch.ones(8))")
    assert told.splitlines()[1:3] == [
        "  rank 0 waits in all_reduce 1, line 2: both(torch.ones(8))",
        "  rank 1 has finished",
    ]


def test_ranks_that_are_started_anew_are_said_to_be(
    ranked: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "available", lambda: False)
    note, shown = ranked.run("%%ranks 2\nx = rank + 1\ndist.all_reduce(y := torch.tensor([x]))\ny")
    assert "each of them started Python and PyTorch anew" in note
    assert shown.splitlines()[2].split() == ["tensor([3])"] * 2
    pids = [process.pid for process in console()._world.processes]
    (shown,) = ranked.run("%%ranks\nx")
    assert shown.splitlines()[2].split() == ["1", "2"]
    ranked.shell.run_line_magic("ranks", "end")
    assert not any(map(_alive, pids))


def test_a_check_goes_on_while_ranks_wait(ranked: Shell) -> None:
    from gpu_course.grading.check import check
    from tests.gpu_course.grading.ranked_toy import RIGHT, SHIFT

    ranked.run("%%ranks 2\nx = 1")
    assert check(SHIFT, answer=RIGHT, seed=0).passed
    (shown,) = ranked.run("%%ranks\nx")
    assert shown.splitlines()[2].split() == ["1", "1"]


def test_nothing_is_left_when_the_kernel_ends() -> None:
    program = (
        "from gpu_course.ranks.console import console\n"
        "own = console()\n"
        "own.start(2)\n"
        "own.run('x = 1')\n"
        "import psutil\n"
        "print(*(p.pid for p in psutil.Process().children(recursive=True)))\n"
    )
    for end in ("", "import os; os._exit(1)\n"):
        done = subprocess.run(
            [sys.executable, "-c", program + end.replace("import os", "import os, sys; "
             "sys.stdout.flush()")],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        pids = [int(pid) for pid in done.stdout.split()]
        assert len(pids) >= 4, done.stderr
        deadline = time.monotonic() + 300
        while any(map(_alive, pids)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(map(_alive, pids))


def _alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_columns_that_would_be_too_narrow_stand_below_each_other() -> None:
    few = SideBySide((Shown(0, "x" * 70), Shown(1, "y")))
    assert repr(few).splitlines()[2:] == ["x" * 70 + "   y"]
    wide = repr(SideBySide((Shown(0, "x" * 70), Shown(1, "y" * 70))))
    assert max(map(len, wide.splitlines())) <= ranks_magic.WIDTH
    assert (wide.count("x"), wide.count("y")) == (70, 70)
    many = SideBySide(tuple(Shown(rank, "a b " * 9) for rank in range(8)))
    assert repr(many).splitlines()[1].startswith("[rank 1] a b")


def test_a_page_shows_text_as_text() -> None:
    page = SideBySide((Shown(0, "<b>", "E: &"), Shown(1, "")))._repr_html_()
    assert "&lt;b&gt;\nE: &amp;" in page and "<b>" not in page
    assert page.count("rank 0") == page.count("rank 1") == 1
