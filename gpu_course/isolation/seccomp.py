"""A filter in the kernel that lets an answer compute and read, and nothing else.

Source: Linux, Documentation/userspace-api/seccomp_filter.rst; linux/seccomp.h, linux/filter.h.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from gpu_course.isolation.syscalls import AUDIT_ARCH, BY_ARGUMENT, FIRST_RECENT, FREE, SOCKETS

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN, _AND = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCH, _ARGS = 0, 4, 16  # places in struct seccomp_data
_X32_BIT = 0x40000000

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_CLONE_THREAD = 0x00010000
_MAP_SHARED, _MAP_ANONYMOUS, _MAP_GROWSDOWN, _MAP_HUGETLB = 0x01, 0x20, 0x100, 0x40000
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_TMPFILE", 0)
# O_TMPFILE holds O_DIRECTORY's bit, which reading a folder sets too.
_WRITES &= ~getattr(os, "O_DIRECTORY", 0)

_OPEN_SOCKETS = ("socket", "socketpair")
_AF_UNIX, _INTERNET, _AF_NETLINK = 1, (2, 10), 16  # AF_INET, AF_INET6
_DATAGRAMS = 2  # the bit that SOCK_DGRAM and SOCK_RAW have, and SOCK_STREAM and SOCK_SEQPACKET not
_PRCTL_ALLOWED = (15, 16, 0x53564D41)  # PR_SET_NAME, PR_GET_NAME, PR_SET_VMA
_IOCTL_ALLOWED = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
_FCNTL_ALLOWED = (0, 1, 2, 3, 4, 1030)
# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC; F_SETOWN would send signals
_MADVISE_ALLOWED = (0, 1, 2, 3, 4, 8, 9, 10, 11, 14, 15, 16, 17, 18, 19, 22, 23, 25)
# Not MADV_MERGEABLE, MADV_COLD, MADV_PAGEOUT: pages that are swapped out or shared with others are
# in no count of what a process has in memory.

_NEGATIVE = 1 << 31
_OF_A_PROCESS = {
    "getpgid": errno.ESRCH,
    "getsid": errno.ESRCH,
    "sched_getparam": errno.ESRCH,
    "sched_getscheduler": errno.ESRCH,
    # libc asks for a thread's, and takes this for a kernel that does not know.
    "sched_getaffinity": errno.ENOSYS,
}
_FUTEX_PRIVATE, _FUTEX_WAIT, _FUTEX_WAITS = 128, 0, (9, 256 + 9)
# FUTEX_WAIT_BITSET, and that with FUTEX_CLOCK_REALTIME
_SET_MODE_FILTER, _TSYNC = 1, 1
_SOCKET_TYPE, _SOCK_STREAM = 0xF, 1

Instruction = tuple[int, int, int, int]


def install(sockets: bool = False) -> None:
    """Puts this thread and all it will start under the filter, for good.

    Args:
        sockets: whether calls on sockets pass.

    Raises:
        OSError: the machine is not one we know, or its kernel does not take the filter.
    """
    steps = program(_machine(), os.getpid(), sockets)
    with _filled(steps) as held:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, held, 0, 0):
            _fail()


def close_sockets() -> None:
    """Closes to all threads of this process what a rank needs only until its group is there.

    From then on it can connect to ranks that listen already, and send over TCP. It can bind no
    address, so which of them are taken tells nobody anything, listen nowhere, and send no
    datagram.

    Raises:
        OSError: the machine is not one we know, or its kernel does not take the filter.
    """
    machine = _machine()
    with _filled(closing(machine)) as held:
        libc = ctypes.CDLL(None, use_errno=True)
        number = SOCKETS[machine]["seccomp"]
        if libc.syscall(ctypes.c_long(number), _SET_MODE_FILTER, _TSYNC, held):
            _fail()


def closing(machine: str) -> list[Instruction]:
    """Returns the filter of `close_sockets` as steps like those of `program`."""
    numbers = SOCKETS[machine]
    stream = [
        *_only_internet(),
        _load_low(1),
        (_AND, 0, 0, _SOCKET_TYPE),
        (_EQUAL, 0, 1, _SOCK_STREAM),
        _give(_ALLOW),
        _refuse(errno.EPERM),
    ]
    steps = [_load(_NUMBER)]
    for name in ("bind", "listen", "seccomp"):
        steps += [(_EQUAL, 0, 1, numbers[name]), _refuse(errno.EPERM)]
    return [*steps, (_EQUAL, 0, len(stream), numbers["socket"]), *stream, _give(_ALLOW)]


def _only_internet() -> list[Instruction]:
    *others, last = _INTERNET
    found = [(_EQUAL, len(others) - at + 1, 0, each) for at, each in enumerate(others)]
    return [_load_low(0), *found, (_EQUAL, 1, 0, last), _refuse(errno.EPERM)]


def _machine() -> str:
    machine = platform.machine()
    if machine not in AUDIT_ARCH:
        raise OSError(errno.ENOSYS, f"no system call table for {machine}")
    return machine


@contextmanager
def _filled(steps: Sequence[Instruction]) -> Iterator[Any]:
    """Yields the address of a struct sock_fprog that holds these steps."""
    code = b"".join(struct.pack("<HBBI", *step) for step in steps)
    held = ctypes.create_string_buffer(code, len(code))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]

    yield ctypes.byref(Program(len(steps), ctypes.cast(held, ctypes.c_void_p).value))


def _fail() -> NoReturn:
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number))


def program(machine: str, pid: int, sockets: bool = False) -> list[Instruction]:
    """Returns the filter as steps (code, jump if true, jump if false, constant).

    Args:
        machine: as `platform.machine()` calls it.
        pid: the only process that may be sent a signal.
        sockets: whether calls on sockets pass.
    """
    free = FREE[machine] | (SOCKETS[machine] if sockets else {})
    opens = {name: free.pop(name) for name in _OPEN_SOCKETS} if sockets else {}
    steps: list[Instruction] = [
        _load(_ARCH),
        (_EQUAL, 1, 0, AUDIT_ARCH[machine]),
        _give(_KILL_PROCESS),
        _load(_NUMBER),
    ]
    if machine == "x86_64":
        # The same machine has a second set of numbers, which no filter should forget.
        steps += [(_AT_LEAST, 0, 1, _X32_BIT), _give(_KILL_PROCESS)]
    for number in free.values():
        steps += [(_EQUAL, 0, 1, number), _give(_ALLOW)]
    for name, number in (BY_ARGUMENT[machine] | opens).items():
        block = _by_argument(name, pid)
        steps += [(_EQUAL, 0, len(block), number), *block]
    return [*steps, (_AT_LEAST, 0, 1, FIRST_RECENT), _refuse(errno.ENOSYS), _refuse(errno.EPERM)]


def _by_argument(name: str, pid: int) -> list[Instruction]:
    """Returns the steps that decide on one call; each way through them ends with a return."""
    if name in ("open", "openat"):
        flags = 1 if name == "open" else 2
        return _allow_without(flags, _WRITES, errno.EROFS)
    if name == "clone":
        return [*_with_any(0, _CLONE_THREAD), _refuse(errno.EPERM)]
    if name == "clone3":
        # Its flags lie in memory, where no filter sees them; libc falls back on clone.
        return [_refuse(errno.ENOSYS)]
    if name == "prlimit64":
        # Asking is free of oneself; the third argument would be a new limit.
        zero = [(_EQUAL, 1, 0, 0), _refuse(errno.EPERM)]
        return [_load_low(2), *zero, _load_high(2), *zero, *_only(0, (0, pid))]
    if name in _OF_A_PROCESS:
        # Which others there are is nobody's business: threads that come and go would be a code.
        return _only(0, (0, pid), _OF_A_PROCESS[name])
    if name in ("clock_gettime", "clock_getres", "clock_nanosleep"):
        # A number below zero stands for the time that some process has used.
        return _allow_without(0, _NEGATIVE, errno.EINVAL)
    if name == "mmap":
        # None of these counts as the process's own data, so no limit would hold what lies there.
        shared = [(_ANY_BIT, 0, 2, _MAP_ANONYMOUS), (_ANY_BIT, 0, 1, _MAP_SHARED)]
        refuse = _refuse(errno.EPERM)
        elsewhere = (_ANY_BIT, 0, 1, _MAP_GROWSDOWN | _MAP_HUGETLB)
        return [_load_low(3), elsewhere, refuse, *shared, refuse, _give(_ALLOW)]
    if name == "futex":
        # Without the flag that keeps it to this process, a wait ends for whoever maps the same
        # library, and a wake says how many waited there. Joining a thread waits like that, and the
        # kernel wakes it. Where the runtime of C++ has a thread wait for the other that makes a
        # static, that other would wake it: such a wait is told to look again instead, and does.
        look = [(_EQUAL, 0, 1, _FUTEX_WAIT), _refuse(errno.EAGAIN)]
        waits = [step for v in _FUTEX_WAITS for step in ((_EQUAL, 0, 1, v), _give(_ALLOW))]
        private = [(_ANY_BIT, 0, 1, _FUTEX_PRIVATE), _give(_ALLOW)]
        return [_load_low(1), *private, *look, *waits, _refuse(errno.EPERM)]
    if name == "socket":
        # Over IP all is counted, and a route is asked for by netlink. By any other family two ranks
        # could speak with nobody to see it.
        internet = [step for v in _INTERNET for step in ((_EQUAL, 0, 1, v), _give(_ALLOW))]
        route = [(_EQUAL, 0, 3, _AF_NETLINK), _load_low(2), (_EQUAL, 0, 1, 0), _give(_ALLOW)]
        return [_load_low(0), *internet, *route, _refuse(errno.EPERM)]
    if name == "socketpair":
        # One of a pair of datagrams could leave it, and speak with whoever has a name.
        pair = [(_EQUAL, 1, 0, _AF_UNIX), _refuse(errno.EPERM), _load_low(1)]
        return [
            _load_low(0),
            *pair,
            (_ANY_BIT, 0, 1, _DATAGRAMS),
            _refuse(errno.EPERM),
            _give(_ALLOW),
        ]
    if name in ("kill", "tkill", "tgkill"):
        return _only(0, (pid,))
    argument, allowed = {
        "prctl": (0, _PRCTL_ALLOWED),
        "ioctl": (1, _IOCTL_ALLOWED),
        "fcntl": (1, _FCNTL_ALLOWED),
        "madvise": (2, _MADVISE_ALLOWED),
    }[name]
    return _only(argument, allowed)


def _only(argument: int, values: Sequence[int], error: int = errno.EPERM) -> list[Instruction]:
    each = [step for v in values for step in ((_EQUAL, 0, 1, v), _give(_ALLOW))]
    return [_load_low(argument), *each, _refuse(error)]


def _with_any(argument: int, bits: int) -> list[Instruction]:
    return [_load_low(argument), (_ANY_BIT, 0, 1, bits), _give(_ALLOW)]


def _allow_without(argument: int, bits: int, error: int) -> list[Instruction]:
    return [_load_low(argument), (_ANY_BIT, 0, 1, bits), _refuse(error), _give(_ALLOW)]


def _load(place: int) -> Instruction:
    return _LOAD, 0, 0, place


def _load_low(argument: int) -> Instruction:
    # The kernel reads these arguments as 32-bit numbers; both machines are little-endian.
    return _load(_ARGS + 8 * argument)


def _load_high(argument: int) -> Instruction:
    return _load(_ARGS + 8 * argument + 4)


def _give(action: int) -> Instruction:
    return _RETURN, 0, 0, action


def _refuse(error: int) -> Instruction:
    return _give(_ERRNO | error)
