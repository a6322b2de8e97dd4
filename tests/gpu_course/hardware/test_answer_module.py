"""What a real GPU gets of an answer file, and what of it never runs."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from gpu_course.errors import CourseError
from gpu_course.hardware.answer_module import answer_module

PLANTED = {
    "a statement": "RUN",
    "an import": "from pathlib import Path\nPath(MARK).touch()",
    "a condition": "if True:\n    RUN",
    "a default": "def f(x=RUN): pass",
    "a decorator": "def mark(f): RUN\n@mark\ndef g(): pass",
    "a decorator's argument": "@cuda.jit(RUN)\ndef g(): pass",
    "an annotation": "def f(x: RUN): pass",
    "a type of what comes back": "def f() -> RUN: pass",
    "a class": "class C:\n    RUN",
    "a constant": "N = RUN",
    "a constant's type": "N: RUN = 3",
    "a target": "(lambda: RUN)()[0] = 3",
    "a function of the file": "def max(x): RUN\nN = max(3)",
    "a function under another name": "def f(x): RUN\narray = f\nN = array(3)",
    "a name given in an expression": "N = [(x := __import__), x('os').mkdir(MARK)]",
    "a function handed to operator": "def f(): RUN\nN = operator.call(f)",
    "what a module has imported": "from numba.core.config import os\nN = os.mkdir(MARK)",
    "what NumPy does with files": "N = np.save(MARK, np.zeros(3))",
    "a method": "N = np.zeros(3).tofile(MARK)",
    "the inside of an object": "N = np.__builtins__['__import__']('os').mkdir(MARK)",
    "a comprehension": "N = [RUN for _ in range(1)]",
    "a lambda": "N = round((lambda: RUN)())",
    "a text that is formatted": 'N = f"{__import__(chr(111) + chr(115)).mkdir(MARK)}"',
    "a star": "from os import *\nmkdir(MARK)",
}
HEAD = "import math\nimport operator\nimport numpy as np\nfrom numba import cuda\n"


def planted(what: str, mark: Path) -> str:
    run = "__import__('os').mkdir(MARK)"
    return PLANTED[what].replace("RUN", run).replace("MARK", repr(str(mark)))


@pytest.mark.parametrize("what", PLANTED)
def test_nothing_but_constants_and_functions_runs(what: str, tmp_path: Path) -> None:
    mark, path = tmp_path / "mark", tmp_path / "answer.py"
    text = planted(what, mark)
    path.write_text(f"{HEAD}{text}\nLAST = 5\n")
    assert answer_module(path, "numba").LAST == 5
    assert not list(tmp_path.glob("mark*"))


@pytest.mark.parametrize("what", PLANTED)
def test_each_of_them_would_leave_its_mark(what: str, tmp_path: Path) -> None:
    """Else the test above would say nothing."""
    mark = tmp_path / "mark"
    text = planted(what, mark)
    with contextlib.suppress(Exception):  # what comes after the mark is of no interest
        exec(
            compile(f"{HEAD}{text}", "planted", "exec", dont_inherit=True), {"__name__": "planted"}
        )
    assert list(tmp_path.glob("mark*"))


CONSTANTS = {
    "N = 4 * 8": 32,
    "N: int = 7": 7,
    "N = (2, 3)\nM, K = N": None,
    "N = -2.5 if True else 0": -2.5,
    "N = math.sqrt(16)": 4.0,
    "N = np.float32(0.5)": 0.5,
    "N = max(3, 5)": 5,
    "N = np.arange(3).tolist": None,
    "from numba import float32\nN = float32": None,
}


@pytest.mark.parametrize("text", CONSTANTS)
def test_constants_are_there(text: str, tmp_path: Path) -> None:
    path = tmp_path / "answer.py"
    path.write_text(f"{HEAD}{text}\n")
    module = answer_module(path, "numba")
    assert hasattr(module, "N")
    if CONSTANTS[text] is not None:
        assert CONSTANTS[text] == module.N


def test_functions_keep_their_places(tmp_path: Path) -> None:
    path = tmp_path / "answer.py"
    path.write_text(f"{HEAD}\n\ndef f(x, by=2 * 3):\n    return x + by\n")
    function = answer_module(path, "numba").f
    assert function(1) == 7
    assert (function.__code__.co_filename, function.__code__.co_firstlineno) == (str(path), 7)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"answer\.py cannot be read"):
        answer_module(tmp_path / "answer.py", "numba")
