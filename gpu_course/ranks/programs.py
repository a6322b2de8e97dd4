"""What a lesson does with an answer on each rank: a function of the course, handed the answer.

It is the harness, as the child process calls it, of runs outside of a check.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any


def name_of(program: Callable[..., Any]) -> str:
    """Returns the name that `run` finds a function of a module by.

    >>> name_of(name_of)
    'gpu_course.ranks.programs:name_of'
    """
    return f"{program.__module__}:{program.__qualname__}"


def run(
    answer: ModuleType,
    program: str,
    others: Sequence[tuple[str, str]],
    arguments: Mapping[str, Any],
) -> dict[str, Any]:
    """Returns {"result": what a function of the course gives}.

    Args:
        answer: the learner's module.
        program: names the function, which takes the answers' modules first.
        others: (file, text) of more answers; each becomes a module of its own.
        arguments: of the function, by name.
    """
    module, _, name = program.partition(":")
    function = getattr(import_module(module), name)
    return {"result": function(answer, *(_module(*each) for each in others), **arguments)}


def _module(file: str, text: str) -> ModuleType:
    module = ModuleType(file.removesuffix(".py"))
    exec(compile(text, file, "exec", dont_inherit=True), module.__dict__)
    return module


def called(answer: ModuleType, function: str, asked: Mapping[str, Any]) -> Any:
    """Returns what a function of an answer returns.

    Args:
        answer: the learner's module.
        function: its name.
        asked: its arguments, by name.
    """
    return getattr(answer, function)(**asked)
