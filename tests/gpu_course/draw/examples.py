"""Examples of pictures: functions of the tests that are marked, and found by walking their files.

A lesson's examples stand beside its other tests of pictures, in `tests/lessons/TOPIC/`, in a file
whose name ends with `pictures.py`. `test_every_picture.py` draws each and looks whether it can be
read; a picture of the package without an example fails there.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from matplotlib.figure import Figure

TESTS = Path(__file__).parents[2]
Example = TypeVar("Example", bound=Callable[..., Figure])


def draws(picture: Callable[..., Any], *each: object) -> Callable[[Example], Example]:
    """Marks a function as an example of a picture.

    Args:
        picture: the function of the package that it draws with.
        each: what it is called with, once for each; nothing where it is called once, without.
    """

    def mark(example: Example) -> Example:
        example.draws = (picture, each)  # type: ignore[attr-defined]
        return example

    return mark


def examples() -> Iterator[tuple[str, Callable[..., Any], Callable[[], Figure]]]:
    """Yields (name, picture, what draws it) of each marked function in the lessons' tests."""
    for path in sorted(TESTS.glob("lessons/*/*pictures.py")):
        module = importlib.import_module(f"tests.lessons.{path.parent.name}.{path.stem}")
        for example in list(vars(module).values()):
            if hasattr(example, "draws"):
                yield from _of(example)


def _of(
    example: Callable[..., Figure],
) -> Iterator[tuple[str, Callable[..., Any], Callable[[], Figure]]]:
    picture, each = example.draws  # type: ignore[attr-defined]
    name = f"{picture.__name__}: {example.__name__}"
    if not each:
        yield name, picture, example
    for given in each:
        yield f"{name} {given}", picture, lambda given=given: example(given)
