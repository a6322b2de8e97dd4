"""Answers that use up what there is."""

from __future__ import annotations

from tests.gpu_course.grading.python.hostile.cases import Hostile, error, late, wrong
from tests.gpu_course.grading.python_toy import RIGHT, answer


def _called(call: str) -> str:
    """Returns an answer that makes a call of libc and raises what it says."""
    return answer(
        "import ctypes, os",
        "libc = ctypes.CDLL(None, use_errno=True)",
        "libc.mmap.restype = ctypes.c_void_p",
        "size = ctypes.c_size_t(1 << 24)",
        f"at = ctypes.c_void_p({call}).value",
        "if at in (None, ctypes.c_void_p(-1).value): raise OSError(ctypes.get_errno(), 'refused')",
        "ctypes.memset(at, 1, 1 << 24)",
    )


_ELSEWHERE = {
    "a stack": "libc.mmap(None, size, 3, 0x122, -1, 0)",
    "huge pages": "libc.mmap(None, size, 3, 0x40022, -1, 0)",
    "a device of zeros": ("libc.mmap(None, size, 3, 1, os.open('/dev/zero', os.O_RDONLY), 0)"),
    "a file without a name": "libc.memfd_create(b'x', 0)",
    "a segment of System V": "libc.shmget(0, size, 0o1600)",
    "a file in /dev/shm": "libc.open(b'/dev/shm/x', 0o102, 0o600)",
    "a pipe made large": "libc.fcntl(os.pipe()[1], 1031, 1 << 24)",
    "a ring": "libc.syscall(425, 8, ctypes.byref(ctypes.create_string_buffer(120)))",
    "pages swapped out": ("libc.madvise(libc.mmap(None, size, 3, 0x22, -1, 0), size, 21)"),
}
"""Memory that is in no count of a process's own -> the call that asks for it."""

RESOURCES = (
    late("endless loop", answer("while True: pass")),
    late("endless loop at import", "while True: pass\n" + RIGHT),
    late("endless loop inside C", answer("import re", "re.match('(a*)*b', 'a' * 60)")),
    late("sleeps for an hour", answer("import time", "time.sleep(3600)")),
    late(
        "waits for itself",
        answer("import threading", "lock = threading.Lock()", "lock.acquire()", "lock.acquire()"),
    ),
    late("endless output", answer("while True: print('x' * 10_000)")),
    Hostile(
        "endless list",
        answer("a = []", "while True: a.append(bytearray(1 << 20))"),
        "crash",
        "memory",
        "MemoryError",
    ),
    Hostile(
        "a large array",
        "import numpy as np\n" + answer("return np.ones(1 << 33)"),
        "crash",
        "memory",
        "Unable to allocate",
    ),
    error(
        "memory that is shared",
        answer(
            "import mmap",
            "a = mmap.mmap(-1, 4 << 30)",
            "while True: a.write(bytes(1 << 20))",
        ),
        "PermissionError",
        needs="seccomp",
    ),
    wrong("memory of its own", _called("libc.mmap(None, size, 3, 0x22, -1, 0)"), "missing-output"),
    *(
        error(f"memory in {place}", _called(call), "Error", needs="seccomp")
        for place, call in _ELSEWHERE.items()
    ),
    Hostile(
        "a large result",
        "import numpy as np\n" + answer("return np.broadcast_to(np.int8(1), (1 << 29,))"),
        "crash",
        "memory",
    ),
    Hostile(
        "a result of many small parts",
        answer("a = list(range(1 << 16))", "return [a] * 48"),
        "crash",
        "memory",
        "too large to be handed over",
    ),
    wrong("a large number", answer("return 10 ** 10_000"), "wrong-type"),
    wrong(
        "a deep result", answer("a = 1", "for _ in range(500): a = [a]", "return a"), "wrong-type"
    ),
    error(
        "fork bomb",
        answer("import os", "while True: os.fork()"),
        "PermissionError",
        needs="seccomp",
    ),
    error(
        "a grandchild in a session of its own",
        answer(
            "import subprocess, sys",
            "sleep = [sys.executable, '-c', 'import time; time.sleep(60)']",
            "subprocess.Popen(sleep, start_new_session=True)",
        ),
        "Error",
        needs="seccomp",
    ),
    error(
        "a shell",
        answer("import os", "return os.execv('/bin/sh', ['sh'])"),
        "Error",
        needs="seccomp",
    ),
    error(
        "a socket", answer("import socket", "socket.socket()"), "PermissionError", needs="seccomp"
    ),
    error(
        "a full disk",
        answer("with open('big', 'wb') as file:", "    while True: file.write(bytes(1 << 20))"),
        "Error",
    ),
    error(
        "files without end",
        answer("for k in range(10 ** 9): open(str(k), 'w').close()"),
        "Error",
        needs="seccomp",
    ),
    error("recursion", answer("return cover(cells, block)"), "RecursionError"),
    Hostile(
        "10 MB of source",
        RIGHT + "# " + "x" * 10_000_000 + "\n",
        "refused",
        "refused",
        "an answer may have",
    ),
    Hostile(
        "a deep expression",
        RIGHT + "x = " + "(" * 150 + "1" + ")" * 150 + "\n" + "y = " + "-" * 5000 + "1\n",
        "refused",
        "refused",
        "nest",
    ),
)
