"""Answers that hope for a lenient comparison."""

from __future__ import annotations

from tests.gpu_course.grading import python_toy as toy
from tests.gpu_course.grading.python.hostile.cases import Hostile, scale, wrong
from tests.gpu_course.grading.python_toy import answer

COMPARISON = (
    wrong(
        "equal to everything",
        answer(
            "class Yes:",
            "    def __eq__(self, other): return True",
            "    __hash__ = None",
            "return Yes()",
        ),
        "wrong-type",
        "of the type Yes",
    ),
    wrong(
        "a number equal to everything",
        answer(
            "class Yes(int):",
            "    def __eq__(self, other): return True",
            "    def __repr__(self): return '3'",
            "    __hash__ = None",
            "return Yes(47)",
        ),
        "same-every-time",
        "result is 47",
    ),
    wrong("NaN everywhere", scale("return a * np.float32('nan')"), "not-finite", puzzle=toy.SCALE),
    wrong("a scalar", scale("return 0.75"), "wrong-type", puzzle=toy.SCALE),
    wrong("one row", scale("return (a * scale)[:1]"), "wrong-shape", "(1, 3)", puzzle=toy.SCALE),
    wrong("an empty array", scale("return (a * scale)[:0]"), "wrong-shape", puzzle=toy.SCALE),
    wrong("another dtype", scale("return a * 3.0 + np.zeros(1)"), "wrong-dtype", puzzle=toy.SCALE),
    wrong("an array of objects", scale("return a.astype(object)"), "wrong-type", puzzle=toy.SCALE),
    wrong(
        "the visible result, typed in",
        answer("return 3"),
        "same-every-time",
        "result is 3, expected 1",
    ),
    wrong(
        "the visible shape, typed in",
        scale("if a.shape == (2, 3): return a * np.float32(3)", "return np.zeros_like(a)"),
        "wrong",
        puzzle=toy.SCALE,
    ),
    wrong(
        "the result of the case before",
        "kept = []\n" + answer("kept.append(-(-cells // block))", "return kept[0]"),
        "wrong",
    ),
    wrong("a bool", answer("return True"), "wrong-type", "a bool; expected an int"),
    wrong("a numpy bool", answer("import numpy", "return numpy.True_"), "wrong-type"),
    wrong("a list that holds itself", answer("a = []", "a.append(a)", "return a"), "wrong-type"),
    Hostile(
        "edits its input",
        scale("a *= np.float32(scale)", "return a"),
        "input-changed",
        "input-changed",
        "a[0, 0] was",
        toy.SCALE,
    ),
    Hostile(
        "right, and too dear",
        "def order(items):\n    return [1, 0, *range(2, items)]\n",
        "over-budget",
        "over-budget",
        "the way is 4 long; 3 would do",
        toy.ORDER,
    ),
)
