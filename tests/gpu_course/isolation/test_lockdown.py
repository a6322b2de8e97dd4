"""The layers around an answer: the filter step by step, what is granted, what is reported."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from gpu_course.grading.check import check
from gpu_course.isolation import landlock, lockdown, seccomp
from gpu_course.isolation.syscalls import AUDIT_ARCH, BY_ARGUMENT, FREE, MACHINES, SOCKETS
from tests.gpu_course.grading import python_toy as toy
from tests.gpu_course.grading.python.hostile.test_hostile_python import OFFERED

ALLOW, KILL = 0x7FFF0000, 0x80000000
PID = 4321
EPERM, ENOSYS, EROFS, ESRCH, EINVAL, EAGAIN = (
    0x50000 | code
    for code in (
        errno.EPERM, errno.ENOSYS, errno.EROFS, errno.ESRCH, errno.EINVAL, errno.EAGAIN,
    )
)  # fmt: skip

# Typed in from the kernel's two tables once more, for calls the filter must refuse.
FORBIDDEN = {
    "x86_64": {
        "fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "socket": 41, "socketpair": 53,
        "connect": 42, "ptrace": 101, "process_vm_readv": 310, "unlink": 87, "mkdir": 83,
        "rename": 82, "setrlimit": 160, "setsid": 112, "mount": 165, "bpf": 321,
        "memfd_create": 319, "shmget": 29, "tuxcall": 184,
    },
    "aarch64": {
        "execve": 221, "execveat": 281, "socket": 198, "socketpair": 199, "connect": 203,
        "ptrace": 117, "process_vm_readv": 270, "unlinkat": 35, "mkdirat": 34, "setrlimit": 164,
        "setsid": 157, "mount": 40, "bpf": 280, "memfd_create": 279, "shmget": 194,
    },
}  # fmt: skip
RECENT = {"pidfd_send_signal": 424, "io_uring_setup": 425, "openat2": 437, "pidfd_getfd": 438}


def run(
    machine: str,
    number: int,
    *arguments: int,
    arch: int | None = None,
    sockets: bool = False,
    closed: bool = False,
) -> int:
    """What the filter says of one call: the steps carried out one by one."""
    data = {0: number, 4: AUDIT_ARCH[machine] if arch is None else arch}
    for place, value in enumerate(arguments):
        data[16 + 8 * place] = value & 0xFFFFFFFF
        data[20 + 8 * place] = value >> 32 & 0xFFFFFFFF
    steps = seccomp.closing(machine) if closed else seccomp.program(machine, PID, sockets)
    at, held = 0, 0
    while True:
        code, if_true, if_false, constant = steps[at]
        at += 1
        if code == 0x20:
            held = data[constant]
        elif code == 0x06:
            return constant
        elif code == 0x54:
            held &= constant
        else:
            tests = {0x15: held == constant, 0x35: held >= constant, 0x45: bool(held & constant)}
            at += if_true if tests[code] else if_false


by_machine = pytest.mark.parametrize("machine", MACHINES)


@by_machine
def test_every_free_call_is_allowed_and_no_number_stands_twice(machine: str) -> None:
    numbers = [*FREE[machine].values(), *BY_ARGUMENT[machine].values()]
    assert len(numbers) == len(set(numbers))
    for number in FREE[machine].values():
        assert run(machine, number, 0, 0, 0) == ALLOW


@by_machine
def test_what_starts_reaches_or_changes_is_refused(machine: str) -> None:
    known = {**FREE[machine], **BY_ARGUMENT[machine]}
    for name, number in FORBIDDEN[machine].items():
        assert name not in known
        assert run(machine, number, 0, 0, 0) == EPERM, name
    for name, number in RECENT.items():
        assert run(machine, number, 0, 0, 0) == ENOSYS, name


@by_machine
def test_jumps_stay_within_their_byte(machine: str) -> None:
    steps = seccomp.program(machine, PID)
    assert all(0 <= jump < 256 for _, *jumps, _ in steps for jump in jumps)
    assert len(steps) < 4096


@by_machine
def test_another_set_of_numbers_ends_the_process(machine: str) -> None:
    assert run(machine, 0, 0, 0, 0, arch=0x40000003) == KILL
    if machine == "x86_64":
        assert run(machine, 0x40000000 | 59, 0, 0, 0) == KILL


THREAD = 0x3D0F00  # the flags a libc starts a thread with
# (call, arguments, what the filter says)
ARGUMENTS = [
    ("clone", (THREAD, 0, 0), ALLOW),
    ("clone", (17, 0, 0), EPERM),
    ("clone3", (0, 0, 0), ENOSYS),
    ("openat", (0, 0, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY), ALLOW),
    ("openat", (0, 0, os.O_WRONLY), EROFS),
    ("openat", (0, 0, os.O_RDWR), EROFS),
    ("openat", (0, 0, os.O_CREAT), EROFS),
    ("openat", (0, 0, os.O_TRUNC), EROFS),
    ("openat", (0, 0, 0o20000000 | os.O_RDWR), EROFS),
    ("kill", (PID, 9, 0), ALLOW),
    ("kill", (1, 9, 0), EPERM),
    ("kill", (-1, 9, 0), EPERM),
    ("kill", (0, 9, 0), EPERM),
    ("tgkill", (PID, PID, 6), ALLOW),
    ("tgkill", (1, 1, 9), EPERM),
    ("tkill", (1, 9, 0), EPERM),
    ("prlimit64", (0, 7, 0), ALLOW),
    ("prlimit64", (0, 7, 0x7F0000000000), EPERM),
    ("prlimit64", (0, 7, 0x1000), EPERM),
    ("prlimit64", (PID, 7, 0), ALLOW),
    ("prlimit64", (1, 7, 0), EPERM),
    ("getsid", (0, 0, 0), ALLOW),
    ("getsid", (1, 0, 0), ESRCH),
    ("getpgid", (1, 0, 0), ESRCH),
    ("sched_getscheduler", (PID + 1, 0, 0), ESRCH),
    ("sched_getaffinity", (PID, 128, 0), ALLOW),
    ("sched_getaffinity", (PID + 1, 128, 0), ENOSYS),
    ("clock_gettime", (3, 0, 0), ALLOW),
    ("clock_gettime", (~PID << 3 | 2, 0, 0), EINVAL),
    ("futex", (0, 128 | 1, 1), ALLOW),
    ("futex", (0, 0, 1), EAGAIN),
    ("futex", (0, 256 | 9, 1), ALLOW),
    ("futex", (0, 1, 1), EPERM),
    ("futex", (0, 4, 1), EPERM),
    ("prctl", (15, 0, 0), ALLOW),
    ("prctl", (1, 0, 0), EPERM),
    ("prctl", (4, 1, 0), EPERM),
    ("ioctl", (1, 0x5401, 0), ALLOW),
    ("ioctl", (1, 0x5412, 0), EPERM),
    ("fcntl", (1, 3, 0), ALLOW),
    ("fcntl", (1, 8, 0), EPERM),
    ("fcntl", (1, 10, 0), EPERM),
    ("mmap", (0, 4096, 3, 0x22), ALLOW),
    ("mmap", (0, 4096, 1, 0x01), ALLOW),
    ("mmap", (0, 4096, 3, 0x21), EPERM),
    ("mmap", (0, 4096, 3, 0x23), EPERM),
    ("mmap", (0, 4096, 3, 0x122), EPERM),
    ("mmap", (0, 4096, 3, 0x40022), EPERM),
    ("madvise", (0, 4096, 4), ALLOW),
    ("madvise", (0, 4096, 14), ALLOW),
    ("madvise", (0, 4096, 12), EPERM),
    ("madvise", (0, 4096, 20), EPERM),
    ("madvise", (0, 4096, 21), EPERM),
]


# AF_INET, AF_INET6, AF_NETLINK with NETLINK_ROUTE; AF_UNIX, AF_PACKET, AF_VSOCK, another netlink.
FAMILIES = [
    ((2, 1, 0), ALLOW), ((10, 1, 0), ALLOW), ((16, 3, 0), ALLOW),
    ((1, 1, 0), EPERM), ((17, 3, 0), EPERM), ((40, 1, 0), EPERM), ((16, 3, 2), EPERM),
]  # fmt: skip


@by_machine
@pytest.mark.parametrize(("arguments", "says"), FAMILIES)
def test_ranks_speak_by_what_is_counted(
    machine: str, arguments: tuple[int, ...], says: int
) -> None:
    number = SOCKETS[machine]["socket"]
    assert run(machine, number, *arguments, sockets=True) == says
    assert run(machine, number, *arguments) == EPERM
    assert run(machine, SOCKETS[machine]["connect"], 3, 0, 0, sockets=True) == ALLOW


# Pairs of streams and of packets, also such as close themselves; of datagrams, raw, of AF_TIPC.
PAIRS = [
    ((1, 1, 0), ALLOW), ((1, 0x80001, 0), ALLOW), ((1, 5, 0), ALLOW),
    ((1, 2, 0), EPERM), ((1, 0x80802, 0), EPERM), ((1, 3, 0), EPERM), ((30, 1, 0), EPERM),
]  # fmt: skip


@by_machine
@pytest.mark.parametrize(("arguments", "says"), PAIRS)
def test_no_socket_of_a_pair_can_leave_it(
    machine: str, arguments: tuple[int, ...], says: int
) -> None:
    number = SOCKETS[machine]["socketpair"]
    assert run(machine, number, *arguments, sockets=True) == says
    assert run(machine, number, *arguments) == EPERM


# Once the ranks are joined: streams over the internet's families, also closed on exec.
CLOSED = [
    ("socket", (2, 1, 0), ALLOW), ("socket", (10, 0x80001, 6), ALLOW),
    ("connect", (3, 0, 0), ALLOW), ("sendmsg", (3, 0, 0), ALLOW), ("accept", (3, 0, 0), ALLOW),
    ("socket", (2, 2, 0), EPERM), ("socket", (10, 0x80002, 0), EPERM),
    ("socket", (2, 3, 1), EPERM), ("socket", (16, 3, 0), EPERM), ("socket", (1, 1, 0), EPERM),
    ("bind", (3, 0, 0), EPERM),
    ("listen", (3, 0, 0), EPERM), ("seccomp", (1, 0, 0), EPERM),
]  # fmt: skip


@by_machine
@pytest.mark.parametrize(("call", "arguments", "says"), CLOSED)
def test_a_rank_that_has_joined_opens_no_other_way(
    machine: str, call: str, arguments: tuple[int, ...], says: int
) -> None:
    number = SOCKETS[machine][call]
    assert run(machine, number, *arguments, closed=True) == says
    assert run(machine, BY_ARGUMENT[machine]["futex"], 0, 128, 0, closed=True) == ALLOW


@by_machine
@pytest.mark.parametrize(("call", "arguments", "says"), ARGUMENTS)
def test_arguments_decide(machine: str, call: str, arguments: tuple[int, ...], says: int) -> None:
    number = BY_ARGUMENT[machine][call]
    assert run(machine, number, *arguments) == says


WAITS_FOR_A_STATIC = """
import ctypes
import threading
import time


def cover(cells, block):
    guards = ctypes.CDLL("libstdc++.so.6")
    guard, came = ctypes.c_uint64(0), threading.Event()

    def second():
        came.set()
        guards.__cxa_guard_acquire(ctypes.byref(guard))

    assert guards.__cxa_guard_acquire(ctypes.byref(guard)) == 1
    other = threading.Thread(target=second)
    other.start()
    came.wait()
    time.sleep(0.05)
    guards.__cxa_guard_release(ctypes.byref(guard))
    other.join(20)
    return -1 if other.is_alive() else -(-cells // block)
"""


def test_a_thread_that_waits_for_another_to_make_a_static_of_cpp_goes_on() -> None:
    """As two threads of gloo do in their first calls; the runtime of C++ wakes all processes."""
    verdict = check(toy.COVER, answer=WAITS_FOR_A_STATIC, seed=0)
    assert verdict.passed, verdict.message


def test_what_is_hidden_is_granted_around(tmp_path: Path) -> None:
    for name in ("lib/a/x", "lib/b/secret/x", "lib/b/open/x", "own/lib/x"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "lib/away").symlink_to(tmp_path / "own")
    hidden = [tmp_path / "lib/b/secret", tmp_path / "own"]
    granted = landlock.grants([tmp_path / "lib", tmp_path / "own/lib", tmp_path / "none"], hidden)
    assert {(str(path.relative_to(tmp_path)), listing) for path, listing in granted} == {
        ("lib", True),
        ("lib/a", False),
        ("lib/b", True),
        ("lib/b/open", False),
        # Within what is hidden, what is named by itself is granted.
        ("own/lib", False),
    }


def test_a_folder_without_secrets_is_granted_whole(tmp_path: Path) -> None:
    assert landlock.grants([tmp_path], []) == [(tmp_path.resolve(), False)]
    assert landlock.grants([tmp_path], [tmp_path]) == []


@pytest.mark.parametrize(
    ("layers", "word"),
    [
        (lockdown.LAYERS, "sandboxed"),
        (("limits", "session", "seccomp"), "confined"),
        (("limits", "session", "landlock"), "limited"),
        (("limits",), "limited"),
        (("session",), "process"),
        ((), "process"),
    ],
)
def test_the_level_is_that_of_the_layers(layers: tuple[str, ...], word: str) -> None:
    assert lockdown.level(layers) == word
    assert word in lockdown.LEVELS


@pytest.mark.parametrize("warm", [True, False])
def test_a_verdict_names_the_layers_that_this_machine_offers(
    warm: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gpu_course.grading.python import check as python_check
    from gpu_course.grading.python.answers import read_python_answer

    read = read_python_answer(toy.COVER, toy.RIGHT)
    verdict = python_check.verdict_on(toy.COVER, read, 0, warm=warm)
    assert verdict.passed
    word, _, layers = verdict.evidence["isolation"].partition(" (")
    named = set(layers.rstrip(")").split(", ")) if layers != ")" else set()
    assert named & {"limits", "seccomp", "landlock"} == OFFERED
    assert word == lockdown.level(named)


def test_a_wrong_answer_carries_the_level_too() -> None:
    verdict = check(toy.COVER, answer=toy.WRONG, seed=0)
    assert verdict.evidence["isolation"].split()[0] in lockdown.LEVELS
