"""The models that compute published numbers, by the names that the tables of figures call them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from gpu_course.errors import CatalogueError

Function = TypeVar("Function", bound=Callable[..., float])


@dataclass(frozen=True)
class Model:
    """A function that computes a number, and what its arguments may be.

    Attributes:
        function: as it was registered.
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


REGISTERED: dict[str, Model] = {}


def model(**choices: Mapping[str, Any]) -> Callable[[Function], Function]:
    """Registers a function as a model, under its own name, and leaves the function as it is.

    Args:
        choices: for each argument that a file gives by name, the values by their names.

    Raises:
        CatalogueError: another module has a model of that name.
    """

    def register(function: Function) -> Function:
        name = function.__name__
        there = REGISTERED.get(name)
        if there is not None and there.function.__module__ != function.__module__:
            raise CatalogueError(
                f"{function.__module__} and {there.function.__module__} both have a model {name}",
                "give one of them another name",
            )
        REGISTERED[name] = Model(function, choices)
        return function

    return register
