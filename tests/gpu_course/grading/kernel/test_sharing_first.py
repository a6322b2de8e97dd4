"""One thread with all the work is told so, also where a larger case outlasts its steps."""

from __future__ import annotations

from gpu_course import check

SERIAL = """from numba import cuda


@cuda.jit
def blocks(out, a, size):
    if cuda.grid(1) == 0:
        for i in range(size):
            out[i] = a[i] * a[i]
"""
ENDLESS = SERIAL.replace(
    "        for i in range(size):\n", "        i = 0\n        while i < size:\n"
)


def test_a_loop_that_would_end_is_not_called_endless(tmp_path) -> None:
    file = tmp_path / "blocks.py"
    file.write_text(SERIAL)
    verdict = check("blocks", answer=file, seed=0)
    assert (verdict.reason, verdict.diagnosis) == ("over-budget", "not-shared")
    assert verdict.message.startswith("right, but not shared out: one thread writes 10 cells")


def test_a_loop_that_never_ends_is(tmp_path) -> None:
    file = tmp_path / "blocks.py"
    file.write_text(ENDLESS)
    assert check("blocks", answer=file, seed=0).diagnosis == "endless-loop"
