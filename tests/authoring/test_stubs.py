"""Stubs: what the markers take out, what stays, and every way to mark wrongly."""

from __future__ import annotations

import ast
import json
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authoring.checkout import AuthoringError
from authoring.stubs import answer_lines, build_stubs, stub_text, stubs_json


def program(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


STUBS = {
    "a whole body": (
        """
        def f(a):
            # answer
            x = a
            return x
            # end answer
        """,
        """
        def f(a):
            # your code here (about 2 lines)
            pass
        """,
    ),
    "a block that still stands needs no pass": (
        """
        def f(a):
            x = a
            # answer
            return x
            # end answer
        """,
        """
        def f(a):
            x = a
            # your code here (about 1 line)
        """,
    ),
    "a docstring is block enough": (
        '''
        def f(a):
            """Words."""
            # answer
            return a
            # end answer
        ''',
        '''
        def f(a):
            """Words."""
            # your code here (about 1 line)
        ''',
    ),
    "blank lines and comments are no code": (
        """
        def f(a):
            # answer
            # a remark

            return a
            # end answer
        """,
        """
        def f(a):
            # your code here (about 1 line)
            pass
        """,
    ),
    "two regions, one inside a block that goes on": (
        """
        def f(a):
            for i in range(3):
                # answer
                a += i
                # end answer
            b = a
            # answer
            return b
            # end answer
        """,
        """
        def f(a):
            for i in range(3):
                # your code here (about 1 line)
                pass
            b = a
            # your code here (about 1 line)
        """,
    ),
    "two regions that share one block need one pass": (
        """
        def f(a):
            # answer
            x = a
            # end answer
            # and then
            # answer
            return x
            # end answer
        """,
        """
        def f(a):
            # your code here (about 1 line)
            # and then
            # your code here (about 1 line)
            pass
        """,
    ),
    "the else of an if that stays": (
        """
        def f(a):
            if a:
                return 1
            # answer
            else:
                return 2
            # end answer
        """,
        """
        def f(a):
            if a:
                return 1
            # your code here (about 2 lines)
        """,
    ),
    "marker words inside a string are text": (
        '''
        def f(a):
            """
            # answer
            """
            # answer
            return a
            # end answer
        ''',
        '''
        def f(a):
            """
            # answer
            """
            # your code here (about 1 line)
        ''',
    ),
    "broken code in the answer's place, as deep as the region and deeper": (
        """
        def f(a):
            if a:
                # answer
                # stub: x = a
                # stub: for k in range(x):
                # stub:     a[k] = 0
                # stub:
                # stub: a[0] = 1
                # a remark
                x = a[0]
                # end answer
            # answer
            return x
            # end answer
        """,
        """
        def f(a):
            if a:
                # mend what follows
                x = a
                for k in range(x):
                    a[k] = 0

                a[0] = 1
            # your code here (about 1 line)
        """,
    ),
    "docstring, imports, constants and decorators remain": (
        '''
        """Module."""

        from numba import cuda

        TPB = 4


        @cuda.jit
        def f(a):
            # answer
            a[0] = TPB
            # end answer
        ''',
        '''
        """Module."""

        from numba import cuda

        TPB = 4


        @cuda.jit
        def f(a):
            # your code here (about 1 line)
            pass
        ''',
    ),
}


@pytest.mark.parametrize(("solution", "stub"), STUBS.values(), ids=STUBS.keys())
def test_stub_holds_all_but_the_answer(solution: str, stub: str) -> None:
    assert stub_text(program(solution)) == program(stub)


FAULTS = {
    "never closed": ("x = 1\n# answer\ny = 2\n", ":2", "nothing closes"),
    "never opened": ("x = 1\n# end answer\n", ":2", "closes no region"),
    "nested": ("# answer\nx = 1\n# answer\ny = 2\n# end answer\n", ":3", "inside the region"),
    "no region": ("x = 1\n", "", "marks no answer"),
    "empty region": ("x = 1\n# answer\n# a remark\n# end answer\n", ":2", "holds no code"),
    "markers at two depths": (
        "def f():\n    # answer\n    return 1\n# end answer\n", ":4", "not indented like"
    ),
    "less indented inside": (
        "def f():\n    # answer\n    x = 1\ny = 2\n    # end answer\n", ":4", "indented less"
    ),
    "half an expression": (
        "y = (\n    1\n    # answer\n    + 2\n    # end answer\n)\n", ":3", "not valid Python"
    ),
    "the head of a block": (
        "def f(a):\n    # answer\n    if a:\n        x = 1\n        # end answer\n        y = 1\n",
        ":5",
        "not indented like",
    ),
    "the middle of a try": (
        "try:\n    x = 1\n# answer\nexcept ValueError:\n    x = 2\n# end answer\n",
        ":3",
        "not valid Python",
    ),
    "an answer that is no answer": (
        "def f():\n    # answer\n    pass\n    # end answer\n", ":2", "same program"
    ),
    "broken code that is the answer": (
        "def f():\n    # answer\n    # stub: x = 1\n    x = 1\n    # end answer\n", ":2",
        "same program",
    ),
    "broken code that is not Python": (
        "def f():\n    # answer\n    # stub: x = (\n    x = 1\n    # end answer\n", ":2",
        "not valid Python",
    ),
    "not Python": ("def f(:\n", ":1", "not valid Python"),
    "no newline at the end": ("# answer\nx = 1\n# end answer", ":3", "one newline"),
    "blank line at the end": ("# answer\nx = 1\n# end answer\n\n", ":4", "one newline"),
}  # fmt: skip


@pytest.mark.parametrize(("solution", "line", "words"), FAULTS.values(), ids=FAULTS.keys())
def test_wrong_markers_are_named_with_file_and_line(solution: str, line: str, words: str) -> None:
    with pytest.raises(AuthoringError) as caught:
        stub_text(solution, "solutions/01_toy/f.py")
    lines = str(caught.value).splitlines()
    assert words in lines[0]
    assert lines[1] == f"  where:  solutions/01_toy/f.py{line}"


@st.composite
def solutions(draw: st.DrawFn) -> str:
    """Kernels of nested blocks in which some statements stand between markers."""

    def block(depth: int) -> list[str]:
        pad = "    " * depth
        out: list[str] = []
        for _ in range(draw(st.integers(1, 3))):
            kind = draw(
                st.sampled_from(["assign", "answer", "if", "for"] if depth < 4 else ["answer"])
            )
            if kind == "assign":
                out.append(f"{pad}out[0] = 1")
            elif kind == "answer":
                out += [f"{pad}# answer", f"{pad}out[0] = 2", f"{pad}# end answer"]
            else:
                head = "if out[0] > 1:" if kind == "if" else "for i in range(3):"
                out += [pad + head, *block(depth + 1)]
        return out

    body = ["    # answer", "    out[0] = 3", "    # end answer", *block(1)]
    return "\n".join(["from numba import cuda", "", "", "@cuda.jit", "def k(out):", *body, ""])


@given(solutions())
def test_every_stub_parses_and_is_another_program(solution: str) -> None:
    stub = stub_text(solution)
    tree = ast.parse(stub)
    assert ast.dump(tree) != ast.dump(ast.parse(solution))
    assert stub.count("# your code here") == solution.count("# end answer")
    assert "out[0] = 2" not in stub and "out[0] = 3" not in stub
    assert stub.count("out[0] = 1") == solution.count("out[0] = 1")
    (kernel,) = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    assert [ast.unparse(decorator) for decorator in kernel.decorator_list] == ["cuda.jit"]


def test_answer_lines_are_the_code_between_markers() -> None:
    solution = program(STUBS["two regions, one inside a block that goes on"][0])
    assert answer_lines(solution) == ("a += i", "return b")


def test_stubs_of_a_checkout_are_named_in_full_and_sorted(toy: Path) -> None:
    stubs = build_stubs(toy)
    assert list(stubs) == ["01_toy/double", "01_toy/guarded"]
    text = stubs_json(dict(reversed(stubs.items())))
    assert list(json.loads(text)) == list(stubs)
    assert json.loads(text) == stubs
    assert text.endswith("}\n")


def test_a_fault_in_a_checkout_names_the_solution(toy: Path) -> None:
    (toy / "solutions" / "01_toy" / "double.py").write_text("x = 1\n")
    with pytest.raises(AuthoringError, match=r"solutions/01_toy/double\.py"):
        build_stubs(toy)
