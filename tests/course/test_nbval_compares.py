"""The run of nbval itself: it finds a wrong stored output, and its counts are what it compared."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from nbformat import NotebookNode

from authoring.execution import answers_copy, execute
from authoring.notebooks import build_notebook
from tests.course.nbval_run import SecondPart, cells_to_compare, run_nbval

SOURCE = """
```{code-cell}
import os
```

```{code-cell}
print("six times seven")
6 * 7
```

```{code-cell}
:tags: [nbval-ignore-output]

print(os.getpid())
```

```{code-cell}
{"text": "<b>bold</b>"}
```

```{code-cell}
from IPython.display import HTML
HTML(f'<img alt="two cells" src="data:image/png;base64,{"A" * (os.getpid() % 9)}=">')
```

```{code-cell}
from pathlib import Path
print(sorted(path.name for path in Path(os.environ["GPU_COURSE_ANSWERS"]).iterdir()))
print(os.environ["GPU_COURSE_SEED"], os.environ["GPU_COURSE_GPU"])
```
"""
ANSWERS = {"01_toy/double": "x = 1\n"}


@pytest.fixture(scope="module")
def executed() -> NotebookNode:
    with answers_copy(ANSWERS) as answers:
        return execute(build_notebook("01_toy", SOURCE, {}), answers, lesson="01_toy")


def test_a_true_notebook_passes_and_every_comparison_is_counted(executed: NotebookNode) -> None:
    cells = run_nbval(executed, ANSWERS)
    assert cells.passed == [0, 1, 2, 3, 4, 5], cells.text
    assert cells_to_compare(executed) == [1, 3, 4, 5]
    assert cells.with_compared_text == [1, 3, 4, 5]
    assert cells.compared[1] == ("text", "text/plain")
    assert cells.compared[4] == ("text/html", "text/plain")


def test_a_wrong_stored_output_fails_its_cell(executed: NotebookNode) -> None:
    wrong = copy.deepcopy(executed)
    wrong.cells[0].outputs = [_printed("an output too many\n")]
    wrong.cells[1].outputs[1].data["text/plain"] = "43"
    wrong.cells[2].outputs = [_printed("whatever it is, this cell is ignored\n")]
    wrong.cells[3].outputs = []
    picture = wrong.cells[4].outputs[0].data
    picture["text/html"] = picture["text/html"].replace("two cells", "three cells")
    wrong.cells[5].outputs[0].text += "a line too many\n"
    cells = run_nbval(wrong, ANSWERS)
    assert cells.passed == [2], cells.text
    assert sorted(cells.outcomes) == [0, 1, 2, 3, 4, 5]
    assert 2 not in cells.with_compared_text


def test_a_cell_that_was_never_run_is_not_counted_as_compared(executed: NotebookNode) -> None:
    wrong = copy.deepcopy(executed)
    wrong.cells[1].execution_count = None
    wrong.cells[1].outputs = []
    cells = run_nbval(wrong, ANSWERS)
    assert 1 in cells.passed
    assert 1 not in cells.with_compared_text


def test_a_second_part_has_answers_and_names_of_its_own(executed: NotebookNode) -> None:
    folder = "from pathlib import Path; folder = Path(os.environ['GPU_COURSE_ANSWERS'])"
    write = "(folder / '01_toy/double.py').write_text('x = 3\\n')"
    second = SecondPart(["Path", f"import os; {folder}", write], {"01_toy/double": "x = 2\n"})
    cells = run_nbval(executed, ANSWERS, second=second)
    # Cell 5 lists the folder; cell 6 turns to the second part, which does not know Path any more.
    assert [number for number, end in cells.outcomes.items() if end == "failed"] == [7], cells.text
    assert sorted(cells.outcomes) == list(range(10))
    assert cells.looked_at == [(5, Path("answers_of_this_run"))]
    assert cells.with_compared_text == [1, 3, 4, 5]
    assert cells.after == {"01_toy/double": "x = 3\n"}


def _printed(text: str) -> NotebookNode:
    return NotebookNode(output_type="stream", name="stdout", text=text)
