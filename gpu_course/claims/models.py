"""The models that compute published numbers, by the names that the tables of figures call them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

from gpu_course.errors import CatalogueError

Function = TypeVar("Function", bound=Callable[..., float])


@dataclass(frozen=True)
class Model:
    """A function that computes a number, and what its arguments may be.

    Attributes:
        function: as it was marked.
        choices: {argument: {name in a file: value}} for arguments that a file names, such as the
            run "22B". All others are numbers, or true and false.
    """

    function: Callable[..., float]
    choices: Mapping[str, Mapping[str, Any]]

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


def model(**choices: Mapping[str, Any]) -> Callable[[Function], Function]:
    """Marks a function as a model, under its own name, and leaves the function as it is.

    Args:
        choices: for each argument that a file gives by name, the values by their names.
    """

    def mark(function: Function) -> Function:
        function.published_model = Model(function, choices)  # type: ignore[attr-defined]
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
