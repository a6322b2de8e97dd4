"""What ends a cell: an error of the course in its words, any other by its traceback."""

from __future__ import annotations

import pytest

from gpu_course.notebook.cells import cell_errors
from tests.gpu_course.notebook.shells import Shell

RAISES = """
from gpu_course.errors import CourseError
def of(plan):
    raise CourseError("a plan is 7", "a plan is a dict; begin with draft()"{places})
"""


@pytest.fixture
def ended(shell: Shell, capsys: pytest.CaptureFixture[str]):
    cell_errors.register(shell.shell)
    cell_errors.register(shell.shell)  # a second import of the course says nothing twice

    def run(*cells: str) -> str:
        capsys.readouterr()
        for cell in cells:
            result = shell.shell.run_cell(cell)
        assert not result.success
        return "".join(capsys.readouterr())

    return run


def test_an_error_of_the_course_says_what_where_and_what_to_try(ended) -> None:
    assert ended(RAISES.format(places=""), "\nmine = 7\na, b = of(mine)\n").splitlines() == [
        "a plan is 7",
        "  where:  line 3 of this cell",
        "  try:    a plan is a dict; begin with draft()",
    ]


def test_a_place_that_the_error_knows_is_the_better_one(ended) -> None:
    said = ended(RAISES.format(places=', ["line 4 of plan.toml"]'), "of(7)")
    assert "  where:  line 4 of plan.toml" in said and "of this cell" not in said


def test_any_other_error_has_its_traceback(ended) -> None:
    assert "Traceback" in ended("1 / 0") and "ZeroDivisionError" in ended("1 / 0")


def test_what_was_explained_before_still_is(shell: Shell, ended) -> None:
    said = []
    shell.shell.set_custom_exc((NameError,), lambda *args, **more: said.append(args[2]))
    cell_errors.register(shell.shell)
    ended("unheard_of")
    assert [each.name for each in said] == ["unheard_of"]
    assert "a plan is 7" in ended(RAISES.format(places=""), "of(7)")
