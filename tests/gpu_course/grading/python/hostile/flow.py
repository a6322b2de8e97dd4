"""Answers that leave, stay for ever, or take others with them."""

from __future__ import annotations

from tests.gpu_course.grading.python.hostile.cases import Hostile, crash, error, late
from tests.gpu_course.grading.python_toy import RIGHT, answer

FLOW = (
    crash("exits at import", "import os\nos._exit(0)\n" + RIGHT, "with status 0"),
    crash("exits in the function", answer("import os", "os._exit(0)"), "with status 0"),
    error("sys.exit at import", "import sys\nsys.exit(0)\n" + RIGHT, "SystemExit: 0"),
    error("sys.exit in the function", answer("import sys", "sys.exit()"), "SystemExit"),
    error("KeyboardInterrupt", answer("raise KeyboardInterrupt"), "KeyboardInterrupt"),
    error("GeneratorExit", answer("raise GeneratorExit"), "GeneratorExit"),
    error("pytest.skip", answer("import pytest", "pytest.skip('no')"), "no"),
    error("pytest.exit", answer("import pytest", "pytest.exit('no')"), "no"),
    error(
        "kills its parent",
        answer("import os, signal", "os.kill(os.getppid(), signal.SIGKILL)"),
        "PermissionError",
        needs="seccomp",
    ),
    error(
        "kills everything",
        answer("import os, signal", "os.kill(-1, signal.SIGKILL)"),
        "PermissionError",
        needs="seccomp",
    ),
    error(
        "has a descriptor send its parent signals",
        answer(
            "import fcntl, os", "r, w = os.pipe()", "fcntl.fcntl(r, fcntl.F_SETOWN, os.getppid())"
        ),
        "PermissionError",
        needs="seccomp",
    ),
    late(
        "ignores signals and cancels alarms",
        answer(
            "import signal",
            "for number in (1, 2, 3, 13, 15):",
            "    signal.signal(number, signal.SIG_IGN)",
            "signal.alarm(0)",
            "while True: pass",
        ),
    ),
    crash("segfault", answer("import ctypes", "ctypes.string_at(0)"), "SIGSEGV"),
    crash("abort", answer("import os", "os.abort()"), "SIGABRT"),
    Hostile(
        "acts at exit and in a thread",
        "import atexit, os, threading, time\n"
        "atexit.register(os._exit, 0)\n"
        "def later():\n"
        "    while True:\n"
        "        print('passed')\n"
        "        time.sleep(0.01)\n"
        "threading.Thread(target=later, daemon=True).start()\n" + RIGHT,
        None,
        None,
    ),
    error("asks for input", answer("return int(input())"), "EOFError"),
    error("closes everything and fails", answer("import os", "os.close(0)", "1 / 0"), "division"),
    crash("closes every descriptor", answer("import os", "os.closerange(0, 99)"), "your code"),
    crash(
        "replaces the process by hand", answer("import ctypes", "ctypes.CDLL(None)._exit(7)"), "7"
    ),
    error(
        "an error that cannot be shown",
        answer(
            "class Shy(Exception):",
            "    def __str__(self):",
            "        raise KeyError",
            "raise Shy",
        ),
        "Shy",
    ),
)
