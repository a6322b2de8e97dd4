"""The layers that hold an answer, put on one by one; those this machine refuses are left out.

Each layer is for good: nothing that runs later in the process can take it off.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path

from gpu_course.isolation import landlock, seccomp

LAYERS = ("limits", "session", "no capabilities", "seccomp", "landlock")
OWN, SHARED = "own network", "shared network"
"""What is added for processes that speak over a network: one of their own, or the machine's."""
LEVELS = ("sandboxed", "confined", "limited", "process")

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_SIGKILL = 9

# What libraries read after they were imported, beside Python's own folders.
_SYSTEM_FILES = (
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache",
    "/etc/localtime", "/usr/share/zoneinfo", "/dev/null", "/dev/zero", "/dev/urandom",
    "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu", "/sys/devices/system/node",
)  # fmt: skip
# gloo looks up the machine's interfaces, and beside which processor each of them sits.
_NETWORK_FILES = (
    "/sys/class/net", "/sys/devices/virtual/net", "/sys/bus/pci/devices", "/etc/hosts",
)  # fmt: skip


def level(layers: Iterable[str]) -> str:
    """Returns the word for a set of layers.

    "sandboxed": it can compute, and read Python and its libraries. "confined": it can read
    whatever the user can, and change nothing, start nothing, reach nothing. "limited": a process
    with limits, with the rights of the user. "process": a process and no more.

    >>> level(["limits", "session", "seccomp"])
    'confined'
    """
    held = set(layers)
    if SHARED in held:
        # Whoever reaches the machine's network is not held in.
        return "limited" if "limits" in held else "process"
    if {"limits", "seccomp", "landlock"} <= held:
        return "sandboxed"
    if {"limits", "seccomp"} <= held:
        return "confined"
    return "limited" if "limits" in held else "process"


def lock_down(
    *, memory_bytes: int, cpu_s: float, hidden: Iterable[Path], sockets: bool = False
) -> tuple[str, ...]:
    """Puts every layer this machine offers on the process, and returns their names.

    Args:
        memory_bytes: what may be allocated on top of what the process holds now.
        cpu_s: processor time, all threads together; the wall clock is the grader's affair.
        hidden: folders that stay out of reach although a library's folder may hold them.
        sockets: whether it may speak over its network; for a process that has one of its own.
    """
    # libc is found once: no file can be opened for it afterwards.
    session = hasattr(os, "getsid") and os.getsid(0) == os.getpid()
    steps: dict[str, Callable[[], None]] = {
        "limits": lambda: set_limits(memory_bytes, cpu_s),
        "no capabilities": drop_capabilities,
        "landlock": lambda: landlock.restrict(readable(sockets), hidden, network=sockets),
        "seccomp": lambda: seccomp.install(sockets),
    }
    if sys.platform == "linux":
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    held = {"session"} if session else set()
    for name, put_on in steps.items():
        with contextlib.suppress(OSError, ValueError, ImportError, AttributeError):
            put_on()
            held.add(name)
    return tuple(name for name in LAYERS if name in held)


def die_with_parent(parent: int) -> None:
    """Has the kernel end this process when its parent ends."""
    if sys.platform == "linux":
        _prctl(_PR_SET_PDEATHSIG, _SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def set_limits(memory_bytes: int, cpu_s: float) -> None:
    """Sets resource limits that the process itself cannot raise again."""
    import resource

    limits = {
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": 0,
        "RLIMIT_NOFILE": 256,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_MSGQUEUE": 0,
        # A stack is no data of its process, and grows to whatever its user has allowed.
        "RLIMIT_STACK": 8 << 20,
        "RLIMIT_CPU": max(2, int(cpu_s) + 1),
        # Private memory, threads' stacks among it. RLIMIT_AS would count what is only reserved.
        "RLIMIT_DATA": _data_bytes() + memory_bytes,
    }
    for name, limit in limits.items():
        kind = getattr(resource, name, None)
        if kind is None:
            continue
        hard = resource.getrlimit(kind)[1]
        value = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        try:
            resource.setrlimit(kind, (value, value))
        except (OSError, ValueError):
            if sys.platform == "linux":
                raise


def drop_capabilities() -> None:
    """Gives up every capability, so that root is a user like any other.

    Source: capset(2), _LINUX_CAPABILITY_VERSION_3.
    """
    if sys.platform != "linux":
        raise OSError("not Linux")
    header = struct.pack("<Ii", 0x20080522, 0)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.capset(header, struct.pack("<6I", *[0] * 6)):
        raise OSError(ctypes.get_errno(), "capset")


def readable(sockets: bool = False) -> list[Path]:
    """Returns what an answer may read: Python, the libraries beside it, and its empty folder.

    Args:
        sockets: with what tells of the network's interfaces.
    """
    prefixes = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    more = [*map(Path, _NETWORK_FILES), *Path("/sys/devices").glob("pci*")] if sockets else []
    libraries = [Path(prefix) / "lib" for prefix in {sys.base_prefix, sys.prefix}]
    found = [Path(each) for each in (*prefixes, *sys.path, *_SYSTEM_FILES) if each]
    return [*dict.fromkeys([*found, *more, *libraries, Path.cwd()])]


def _data_bytes() -> int:
    try:
        text = Path("/proc/self/status").read_text()
        return int(text.partition("VmData:")[2].split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        return 1 << 30


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(option, value, 0, 0, 0)
