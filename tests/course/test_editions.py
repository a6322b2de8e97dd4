"""Which cells of a lesson depend on the learner's answers."""

from __future__ import annotations

import pytest

from tests.course.editions import depends_on_answers, with_what_they_need

IMPORTS = "import numpy as np\nfrom gpu_course.notebook import check, hint, progress"


@pytest.mark.parametrize(
    ("sources", "depending", "run"),
    [
        ([IMPORTS, "a = np.zeros(3)", "a.sum()"], [], []),
        ([IMPORTS, "a = 1", "%%puzzle guard\nx = a"], [2], [2]),
        ([IMPORTS, "a = 1", "progress()"], [2], [0, 2]),
        ([IMPORTS, "v = check('guard')", "a = 1", "print(v)"], [1, 3], [0, 1, 3]),
        ([IMPORTS, "v = check('guard')", "w = v", "v = 1", "v", "w"], [1, 2, 5], [0, 1, 2, 5]),
        ([IMPORTS, "name = 'guard'", "def f():\n    return check(name)"], [2], [0, 1, 2]),
        ([IMPORTS, "def f():\n    return check('guard')", "f()"], [1, 2], [0, 1, 2]),
        ([IMPORTS, "n = 1", "n = n + 1", "%%puzzle guard", "hint(n)"], [3, 4], [0, 1, 2, 3, 4]),
        (["def check(n):\n    return n", "check(1)"], [], []),
        (["from gpu_course.notebook import check as look", "look('guard')"], [1], [0, 1]),
    ],
)
def test_the_cells_that_depend_on_answers(
    sources: list[str], depending: list[int], run: list[int]
) -> None:
    assert depends_on_answers(sources) == depending
    assert with_what_they_need(sources, depending) == run
