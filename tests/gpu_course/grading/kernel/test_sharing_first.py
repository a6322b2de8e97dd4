"""One thread with all the work is told so, also where a case outlasts its steps."""

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


SUMS = """from numba import cuda, float32


@cuda.jit
def kahan_sum(out, a, rows, size):
    if cuda.grid(1) == 0:
        for i in range(size):
            total = float32(0)
            lost = float32(0)
            for row in range(rows):
                x = a[row, i] + lost
                new = total + x
                lost = x - (new - total)
                if new - new != float32(0):
                    lost = float32(0)
                total = new
            out[i] = total
"""
"""All columns in one thread: more steps than a launch may take, already in the visible example."""


def test_nor_is_one_that_outlasts_the_steps_of_the_first_case(tmp_path) -> None:
    file = tmp_path / "kahan_sum.py"
    file.write_text(SUMS)
    verdict = check("kahan_sum", answer=file, seed=0)
    assert (verdict.reason, verdict.diagnosis) == ("hazard", "not-shared")
    said = " ".join(verdict.message.split())
    assert said.startswith("not shared out: one thread writes ")
    assert "the launch was not done when all its steps were used up" in said
    assert "right" not in said.partition("why:")[0]
    assert "never" not in said and "EndlessLoop" not in said


def test_where_it_is_not_known_whether_a_loop_would_end_the_verdict_asks(tmp_path) -> None:
    file = tmp_path / "kahan_sum.py"
    slow = SUMS.replace("            total = float32(0)\n", "            total = float32(0)\n"
                        "            for turn in range(1000000):\n"
                        "                total = float32(0)\n")  # fmt: skip
    file.write_text(slow)
    verdict = check("kahan_sum", answer=file, seed=0)
    said = " ".join(verdict.message.split())
    assert verdict.diagnosis == "endless-loop"
    assert "Does the loop end at all?" in said and "does not end" not in said
    assert "if it would end, let each thread make fewer turns" in said


def test_a_loop_that_never_ends_is(tmp_path) -> None:
    file = tmp_path / "blocks.py"
    file.write_text(ENDLESS)
    assert check("blocks", answer=file, seed=0).diagnosis == "endless-loop"
