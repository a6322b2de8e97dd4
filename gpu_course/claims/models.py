"""The models that compute published numbers, by the names that the tables of figures call them."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import gpu_course
from gpu_course.claims import tables
from gpu_course.claims.kinds import PREDICTED
from gpu_course.errors import CatalogueError

PACKAGE = Path(gpu_course.__path__[0])
Function = TypeVar("Function", bound=Callable[..., float])


@dataclass(frozen=True)
class Model:
    """A function that computes a number, and what its arguments may be.

    Attributes:
        function: as it was marked.
        choices: {argument: {name in a file: value}} for arguments that a file names, such as the
            run "22B". All others are numbers, or true and false.
        predicts: what it predicts, a key of `kinds.PREDICTED`; "" for a model that always gets
            a measurement of its source, or that only bounds.
    """

    function: Callable[..., float]
    choices: Mapping[str, Mapping[str, Any]]
    predicts: str = ""

    def problem(self, arguments: Mapping[str, Any]) -> str:
        """Returns what is wrong with arguments of a file, "" where nothing is."""
        try:
            inspect.signature(self.function).bind(**arguments)
        except TypeError as error:
            return f"the arguments of {self.function.__name__}: {error}"
        for name, value in arguments.items():
            if name in self.choices:
                known = self.choices[name]
                if not isinstance(value, str) or value not in known:
                    return f"{name} is {value!r}, and no one of {', '.join(known)}"
            elif not isinstance(value, (int, float)):
                return f"{name} is {value!r}, and no number"
        return ""

    def __call__(self, **arguments: Any) -> float:
        """Returns the number for arguments as a file gives them."""
        given = {
            name: self.choices[name][value] if name in self.choices else value
            for name, value in arguments.items()
        }
        return float(self.function(**given))


def model(predicts: str = "", /, **choices: Mapping[str, Any]) -> Callable[[Function], Function]:
    """Marks a function as a model, under its own name, and leaves the function as it is.

    Args:
        predicts: what it predicts where it has seen no measurement, a key of `kinds.PREDICTED`. It
            decides how far off the model may be, so it stands here, where no value is in sight.
        choices: for each argument that a file gives by name, the values by their names.

    Raises:
        CatalogueError: nothing is known of what it predicts.
    """
    if predicts and predicts not in PREDICTED:
        raise CatalogueError(
            f"a model predicts {predicts!r}, and nothing says how far off that may be",
            f"it is one of {', '.join(PREDICTED)}; claims/kinds.py has the reasons",
        )

    def mark(function: Function) -> Function:
        function.published_model = Model(function, choices, predicts)  # type: ignore[attr-defined]
        return function

    return mark


def models_of(modules: Iterable[ModuleType]) -> dict[str, Model]:
    """Returns the marked functions of modules by their names.

    Raises:
        CatalogueError: two modules have a model of one name.
    """
    found: dict[str, Model] = {}
    for module in modules:
        for name, value in vars(module).items():
            marked = getattr(value, "published_model", None)
            # A module may use the models of another.
            if not isinstance(marked, Model) or marked.function.__module__ != module.__name__:
                continue
            if name in found:
                raise CatalogueError(
                    f"{module.__name__} and {found[name].function.__module__} both have a model "
                    f"{name}",
                    "give one of them another name",
                )
            found[name] = marked
    return found


def folders() -> list[Path]:
    """Returns the folders of tables and their models: those of several lessons, then each's own."""
    own = sorted(PACKAGE.glob("lessons/*/claims"))
    return [Path(tables.__path__[0]), *own]


@lru_cache(maxsize=1)
def known() -> dict[str, Model]:
    """Returns every model by its name: the marked functions of the modules beside the tables."""
    inside = (
        path.relative_to(PACKAGE).with_suffix("").parts
        for folder in folders()
        for path in sorted(folder.glob("[a-z]*.py"))
    )
    return models_of(importlib.import_module(".".join((PACKAGE.name, *parts))) for parts in inside)


def compute(name: str, arguments: Mapping[str, Any]) -> float:
    """Returns what a model gives, for arguments as a file gives them."""
    return known()[name](**arguments)
