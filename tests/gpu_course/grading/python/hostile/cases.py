"""What a hostile answer in Python is: its text, and the end it must come to.

All answer the toys of tests/gpu_course/grading/python_toy.py. Each is text: nothing of it runs in a
test.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpu_course.puzzle import PythonPuzzle
from tests.gpu_course.grading import python_toy as toy

QUICK = replace(toy.COVER, seconds=1.0)


@dataclass(frozen=True)
class Hostile:
    """One answer, and how it must end.

    Args:
        name: what it tries.
        text: the answer.
        status, reason, diagnosis: as in Verdict.
        says: what the message holds.
        puzzle: what it answers.
        needs: the layer that stops it; where a machine lacks that, it need only be survived.
    """

    name: str
    text: str
    reason: str | None
    diagnosis: str | None
    says: str = ""
    puzzle: PythonPuzzle = toy.COVER
    needs: str = ""

    @property
    def status(self) -> str:
        """The status that goes with the reason."""
        return {None: "passed", "deadline": "timeout"}.get(self.reason, "failed")


def crash(name: str, text: str, says: str, **more: object) -> Hostile:
    """Returns an answer that ends its process."""
    return Hostile(name, text, "crash", "crash", says, **more)  # type: ignore[arg-type]


def error(name: str, text: str, says: str, **more: object) -> Hostile:
    """Returns an answer that raises an exception that is shown."""
    return Hostile(name, text, "exception", "exception", says, **more)  # type: ignore[arg-type]


def wrong(name: str, text: str, diagnosis: str, says: str = "", **more: object) -> Hostile:
    """Returns an answer that is a wrong result."""
    return Hostile(name, text, "wrong-result", diagnosis, says, **more)  # type: ignore[arg-type]


def late(name: str, text: str, **more: object) -> Hostile:
    """Returns an answer that does not end in time."""
    more = {"puzzle": QUICK, **more}
    return Hostile(name, text, "deadline", "deadline", "within 1 second", **more)  # type: ignore[arg-type]


def scale(*body: str, head: str = "import numpy as np\n\n\n") -> str:
    """Returns the text of an answer to `scale` with these lines."""
    return head + "def scale(a, scale):\n" + "".join(f"    {line}\n" for line in body)
