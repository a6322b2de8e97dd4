"""Whatever takes too much memory, a learner reads the limit, what was asked for and what helps."""

from __future__ import annotations

import signal
from dataclasses import replace

import pytest

from gpu_course.grading.check import check
from gpu_course.grading.python.memory_messages import asked_for
from gpu_course.grading.python.messages import ended
from gpu_course.isolation.processes import Ended
from gpu_course.puzzle import PythonPuzzle
from tests.gpu_course.grading import python_toy as toy
from tests.gpu_course.grading.python_toy import RIGHT, answer

FACT = "your code needs more than the 256 MiB of memory it may have"
NUMPY = "import numpy as np\n"
TORCH = 'import torch\n\n\ndef scale(a, scale):\n    """A tensor."""\n    return '
HUGE = "MemoryError: Unable to allocate 8.00 GiB for an array with shape"
ALLOCATOR = "RuntimeError: DefaultCPUAllocator: can't allocate memory"
GROWS = ("a = []", "while True: a.append(bytearray(1 << 20))")
SHARED = ("a = mmap.mmap(-1, 1 << 30)", "while True: a.write(bytes(1 << 20))")


@pytest.mark.parametrize(
    ("puzzle", "text", "line", "said"),
    [
        (toy.COVER, answer(*GROWS), 6, "  error:  MemoryError"),
        (toy.COVER, answer("raise MemoryError('mine')"), 5, "  error:  MemoryError: mine"),
        (
            toy.COVER,
            NUMPY + answer("return np.ones((1 << 15, 1 << 15))"),
            6,
            f"  error:  {HUGE} (32768, 32768) and data type float64",
        ),
        (
            toy.COVER,
            NUMPY + "A = np.ones(1 << 30)\n" + RIGHT,
            2,
            f"  error:  {HUGE} (1073741824,) and data type float64",
        ),
        (
            toy.TENSOR,
            TORCH + "torch.ones(1 << 30)\n",
            6,
            f"  error:  {ALLOCATOR}: you tried to allocate 4,294,967,296 bytes (4 GiB)",
        ),
    ],
)
def test_what_takes_too_much_memory(
    puzzle: PythonPuzzle, text: str, line: int | None, said: str | None
) -> None:
    verdict = check(puzzle, answer=text, seed=0)
    assert (verdict.status, verdict.reason, verdict.diagnosis) == ("failed", "crash", "memory")
    first, *rest = verdict.message.splitlines()
    assert first == FACT
    if said is not None:
        assert " ".join(said.split()) in " ".join(" ".join(rest).split())
        assert any(each.endswith(f"{puzzle.short_name}.py:{line}") for each in rest)
    labels = [each.label for each in verdict.sections]
    assert [label for label in labels if label in ("why", "try", "hint")] == ["why", "try", "hint"]
    assert "a larger machine does not raise it" in " ".join(verdict.message.split())


def test_the_limit_is_that_of_the_puzzle() -> None:
    small = replace(toy.COVER, memory_bytes=64 << 20)
    assert "more than the 64 MiB of memory" in check(small, answer=answer(*GROWS), seed=0).message


def test_a_message_of_another_form_stays_as_it_is() -> None:
    assert asked_for("MemoryError")[0].lines == ("MemoryError",)
    assert asked_for("RuntimeError: a: b", "c")[0].lines == ("RuntimeError: a: b", "c")


def test_an_end_from_outside_is_not_laid_to_the_answer() -> None:
    first = ended(toy.COVER, None, Ended("signal", signal.SIGKILL))[0].lines[0]
    assert first.startswith("your code's process was ended from outside: signal 9 (SIGKILL)")
    assert "memory is full" in first
    own = ended(toy.COVER, None, Ended("signal", signal.SIGSEGV))[0].lines[0]
    assert own == "your code ended its process: signal 11 (SIGSEGV)"
