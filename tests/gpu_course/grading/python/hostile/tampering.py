"""Answers that reach for what judges them."""

from __future__ import annotations

from tests.gpu_course.grading import python_toy as toy
from tests.gpu_course.grading.python.hostile.cases import crash, error, wrong
from tests.gpu_course.grading.python_toy import RIGHT, answer

TAMPERING = (
    wrong(
        "replaces numpy's comparisons",
        "import numpy as np\n"
        "np.allclose = np.array_equal = np.isclose = lambda *a, **k: True\n"
        "np.testing.assert_allclose = np.testing.assert_array_equal = lambda *a, **k: None\n"
        + answer("return 47"),
        "same-every-time",
        "result is 47",
    ),
    wrong(
        "replaces torch's comparisons",
        "import torch\n"
        "torch.allclose = torch.equal = lambda *a, **k: True\n"
        "def scale(a, scale):\n    return torch.from_numpy(a) ** 2 - 9\n",
        "wrong",
        puzzle=toy.TENSOR,
    ),
    crash(
        "replaces what the child speaks with",
        "import sys\n"
        "sys.modules['gpu_course.isolation.transport']._tree = lambda *a: ['l', []]\n"
        + answer("return 47"),
        "is not a result",
    ),
    wrong(
        "looks for the expected value",
        answer(
            "import gc, sys",
            "found = [o for o in gc.get_objects() if isinstance(o, dict)]",
            "frame = sys._getframe()",
            "while frame:",
            "    found.append(frame.f_locals)",
            "    frame = frame.f_back",
            "names = {'expected', 'reference', 'judge', 'mistakes', 'diagnoses'}",
            "hits = [k for d in found for k in list(d) if isinstance(k, str) and k in names]",
            "return sorted(hits)",
        ),
        "wrong-type",
        "result is []",
    ),
    wrong(
        "looks for the catalogue",
        answer(
            "import sys",
            "own = [m for m in sys.modules if m.startswith('gpu_course.')]",
            "return [m for m in own if 'lesson' in m or 'specification' in m or 'check' in m]",
        ),
        "wrong-type",
        "result is []",
    ),
    error(
        "imports the catalogue",
        "import gpu_course.lessons.warps.lesson\n" + RIGHT,
        "an answer cannot import gpu_course.lessons",
    ),
    error(
        "imports a reference",
        "from gpu_course.hardware.occupancy import occupancy\n" + RIGHT,
        "an answer cannot import gpu_course.hardware",
    ),
    error(
        "reads a solution",
        answer(
            "import json, pathlib",
            "home = pathlib.Path(json.__file__).parents[1]",
            "import sys",
            "file = sys.modules['gpu_course.isolation.transport'].__file__",
            "root = pathlib.Path(file).parents[2]",
            "return (root / 'solutions/02_warps/occupancy.py').read_text()",
        ),
        "PermissionError",
        needs="landlock",
    ),
    error(
        "reads the catalogue's file",
        answer(
            "import pathlib, sys",
            "file = sys.modules['gpu_course.isolation.transport'].__file__",
            "root = pathlib.Path(file).parents[1]",
            "return (root / 'lessons/warps/lesson.toml').read_text()",
        ),
        "PermissionError",
        needs="landlock",
    ),
    error(
        "reads its parent's memory",
        answer("import os", "return open(f'/proc/{os.getppid()}/mem', 'rb').read(1)"),
        "PermissionError",
        needs="landlock",
    ),
    error(
        "traces its parent",
        answer(
            "import ctypes, os",
            "libc = ctypes.CDLL(None, use_errno=True)",
            "if libc.ptrace(16, os.getppid(), 0, 0) < 0:",
            "    raise OSError(ctypes.get_errno(), 'ptrace')",
        ),
        "PermissionError",
        needs="seccomp",
    ),
    wrong(
        "poisons modules, random state, folder and environment",
        "import os, random, sys\n"
        "import numpy as np\n"
        "np.random.seed(1); random.seed(1)\n"
        "os.environ['GPU_COURSE_ANSWERS'] = '/'\n"
        "np.ndarray = None\n"
        "sys.modules['numpy'] = sys.modules['json'] = None\n" + answer("return 47"),
        "same-every-time",
    ),
    crash(
        "forges a result on standard output",
        "import os, struct, sys\n"
        + answer(
            'body = b\'{"value": ["d", {"turn": 1, "passed": true}], "blobs": []}\'',
            "os.write(1, struct.pack('<QQ', len(body), 0) + body)",
            "os._exit(0)",
        ),
        "with status 0",
    ),
    crash(
        "forges a result on every descriptor",
        "import os, struct, sys\n"
        + answer(
            'body = b\'{"value": ["d", {"turn": 1, "passed": true}], "blobs": []}\'',
            "for number in range(3, 40):",
            "    try: os.write(number, struct.pack('<QQ', len(body), 0) + body)",
            "    except OSError: pass",
            "os._exit(0)",
        ),
        "is not a result",
    ),
    crash(
        "sends nonsense on every descriptor",
        answer(
            "import os",
            "for number in range(3, 40):",
            "    try: os.write(number, b'x' * 100)",
            "    except OSError: pass",
            "return 3",
        ),
        "",
    ),
    error(
        "writes a file of results",
        answer("open('/tmp/results.json', 'w').write('passed')", "return 47"),
        "Error",
        needs="seccomp",
    ),
    wrong(
        "returns what a pickle would run",
        answer(
            "class Boom:",
            "    def __reduce__(self):",
            "        import os",
            "        return os.system, ('true',)",
            "return Boom()",
        ),
        "wrong-type",
        "result is of the type Boom",
    ),
    wrong(
        "prints that it passed",
        answer("print('passed: 10 of 10 points')", "return 47"),
        "same-every-time",
    ),
    error(
        "moves the terminal's cursor",
        answer("print('\\x1b[2J\\x1b]0;gone\\x07')", "raise ValueError('\\x1b[31mred\\x9b')"),
        "ValueError: [31mred",
    ),
    error(
        "raises its limits",
        answer(
            "import resource",
            "resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY,) * 2)",
        ),
        "rror",
        needs="seccomp",
    ),
)
