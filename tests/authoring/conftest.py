"""A toy course of one lesson and two puzzles, in a folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from authoring.checkout import write

DOUBLE = '''"""Twice each number."""

from numba import cuda


@cuda.jit
def double(out, a):
    i = cuda.grid(1)
    # answer
    out[i] = 2 * a[i]
    # end answer
'''

GUARDED = '''"""Twice each number, with more threads than data."""

from numba import cuda


@cuda.jit
def guarded(out, a, size):
    i = cuda.grid(1)
    if i < size:
        # answer
        out[i] = 2 * a[i]
        # end answer
'''

SOURCE = """---
kernelspec:
  name: python3
---

# A toy lesson

```{code-cell} ipython3
from pathlib import Path
import os

from IPython.core.magic import register_cell_magic

ANSWERS = Path(os.environ["GPU_COURSE_ANSWERS"])


@register_cell_magic
def puzzle(name, text):
    file = ANSWERS / "01_toy" / f"{name}.py"
    print(name, "same as the file" if file.read_text() == text else "another text")
```

First puzzle.

```{code-cell} ipython3
%%puzzle double
```

+++ {"tags": ["aside"]}

Words of their own cell.

```{code-cell} ipython3
:tags: [nbval-ignore-output]

print(os.getpid())
```

```{code-cell} ipython3
%%puzzle guarded
```

```{code-cell} ipython3
6 * 7
```

```{code-cell} ipython3
6 * 7
```
"""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """The root of a toy checkout that holds sources alone."""
    root = tmp_path / "checkout"
    write(root / "solutions" / "01_toy" / "double.py", DOUBLE)
    write(root / "solutions" / "01_toy" / "guarded.py", GUARDED)
    write(root / "solutions" / "01_toy" / "mistakes" / "double.py", "x = 1\n")
    write(root / "notebooks" / "source" / "01_toy.md", SOURCE)
    return root
