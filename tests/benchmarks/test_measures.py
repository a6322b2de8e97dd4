"""The commands that count how much of what others wrote runs unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import scripts, suites

HEAD = "import numpy as np\nfrom numba import cuda\n\n\n@cuda.jit\ndef kernel(a):\n"
LAUNCH = "\n\nkernel[1, 4](np.zeros(4))\n"

EXPECTED = {
    "runs": (HEAD + "    a[cuda.grid(1)] = 1" + LAUNCH, scripts.RAN, ""),
    "races": (HEAD + "    a[0] += 1" + LAUNCH, scripts.RAN, ""),
    "refused": (
        HEAD + "    a[0] = cuda.float32x2(1, 2).x" + LAUNCH,
        scripts.REFUSED,
        "the simulator does not know cuda.float32x2",
    ),
    "not_numba": (
        HEAD + "    a[0] = {1: 2}" + LAUNCH,
        scripts.EXCLUDED,
        "Numba refuses it as well: a dict cannot be used",
    ),
    "module": (
        "import nowhere_to_be_found\n" + HEAD + "    pass" + LAUNCH,
        scripts.EXCLUDED,
        "wants a module",
    ),
    "file": (HEAD + "    pass\n\n\nopen('absent.txt')\n", scripts.EXCLUDED, "wants a file"),
    "nothing": (HEAD + "    pass\n", scripts.EXCLUDED, "launches no kernel"),
    "asks": (HEAD + "    pass\n\n\ninput()\n", scripts.EXCLUDED, "asks at the keyboard"),
    "arguments": (
        HEAD + "    pass\n\n\nimport sys\nsys.argv[1]\n",
        scripts.EXCLUDED,
        "wants arguments",
    ),
    "wrong": (HEAD + "    a[0] = 1" + LAUNCH + "assert False\n", scripts.FAILED, "AssertionError"),
    "forever": (
        HEAD + "    pass" + LAUNCH + "import time\n\ntime.sleep(600)\n",
        scripts.LATE,
        "not at its end",
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_script_counts_as_what_became_of_it(name: str, tmp_path: Path) -> None:
    text, what, reason = EXPECTED[name]
    path = tmp_path / f"{name}.py"
    path.write_text(text)
    found = scripts.one(path, path.name, 4 if what == scripts.LATE else 60)
    assert (found.script, found.what) == (path.name, what)
    assert found.reason.startswith(reason)
    assert bool(found.hazards) == (name == "races")


def test_only_scripts_that_name_numba_cuda_count(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("print('no kernel')\n")
    assert scripts.measured([tmp_path / "other.py"], tmp_path, 60) == []


def test_the_share_is_of_those_that_can_run() -> None:
    outcomes = [
        scripts.ScriptOutcome("a", scripts.RAN, "", 1),
        scripts.ScriptOutcome("b", scripts.RAN, "", 1, ("race b.py:3",)),
        scripts.ScriptOutcome("c", scripts.REFUSED, "why"),
        scripts.ScriptOutcome("d", scripts.EXCLUDED, "wants a module: x"),
        scripts.ScriptOutcome("e", scripts.LATE, "not at its end after 60 s"),
    ]
    told = scripts.summary(outcomes)
    assert told.endswith("ran unchanged: 2 of 3 (67 %)")
    assert "excluded: 1\n  d: wants a module: x" in told
    assert "ran, with errors in their kernels: 1\n  b: race b.py:3" in told


TESTS = """
import numpy as np
import pytest
from numba import cuda


@cuda.jit
def kernel(a):
    a[0] += 1


def test_passes():
    assert cuda.is_available()


def test_has_a_hazard():
    kernel[1, 4](np.zeros(1))


def test_asks_for_code():
    kernel.inspect_asm()


def test_fails():
    assert False


@pytest.mark.skip(reason="not today")
def test_skipped():
    pass
"""


def test_a_suite_s_tests_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(TESTS)
    outcomes = suites.measured([tmp_path / "test_own.py"], 100)
    assert {name.partition("::")[2]: what for name, what, _ in outcomes} == {
        "test_passes": suites.PASSED,
        "test_has_a_hazard": suites.HAZARD,
        "test_asks_for_code": suites.EXCLUDED,
        "test_fails": suites.FAILED,
        "test_skipped": suites.SKIPPED,
    }
    assert suites.summary(outcomes).endswith("passed: 1 of 2 (50 %)")
