"""A verdict on its way here from the process that made it: JSON, and the bytes of its arrays.

Verdicts, reports and what they hold cross as their names and fields, so what arrives is data,
whatever sent it.
"""

from __future__ import annotations

import base64
import dataclasses
import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from gpu_course.catalog.specification import Case
from gpu_course.errors import CourseError
from gpu_course.grading.verdict import Verdict
from gpu_course.simt.report import (
    Counters,
    GlobalCounters,
    Hazard,
    LaunchShape,
    Report,
    SharedCounters,
    Touch,
)

_CLASSES = (
    Verdict, Case, Report, Hazard, Counters, GlobalCounters, SharedCounters, LaunchShape, Touch,
)  # fmt: skip
KNOWN: dict[str, type] = {each.__name__: each for each in _CLASSES}
"""The classes whose objects cross."""


def dumps(reply: Verdict | CourseError) -> str:
    """Returns a verdict, or the error that stands in its place, as one line.

    Raises:
        TypeError: there is something in it that is no plain data.
    """
    if isinstance(reply, CourseError):
        return json.dumps({"fact": reply.fact, "hint": reply.hint})
    return json.dumps({"verdict": _tree(reply)})


def loads(line: str) -> Verdict | CourseError:
    """Returns what `dumps` wrote.

    Raises:
        ValueError: the line is nothing that it writes.
    """
    reply = json.loads(line)
    if "verdict" not in reply:
        return CourseError(reply["fact"], reply["hint"])
    found = _value(reply["verdict"])
    if not isinstance(found, Verdict):
        raise ValueError("the line holds no verdict")
    return found


def _tree(value: Any) -> Any:
    """Returns a value as JSON: scalars as they are, all else as [kind, content ...]."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, complex) and not isinstance(value, np.generic):
        return ["complex", value.real, value.imag]
    if isinstance(value, np.ndarray):
        return ["array", _bytes(value)]
    if isinstance(value, np.generic):
        return ["number", _bytes(np.asarray(value))]
    if isinstance(value, tuple):
        return ["tuple", *map(_tree, value)]
    if isinstance(value, list):
        return ["list", *map(_tree, value)]
    if isinstance(value, Mapping):
        return ["dict", *([_tree(key), _tree(each)] for key, each in value.items())]
    known = KNOWN.get(type(value).__name__)
    if known is type(value):
        held = {each.name: getattr(value, each.name) for each in dataclasses.fields(known)}
        return ["object", type(value).__name__, {name: _tree(v) for name, v in held.items()}]
    raise TypeError(f"a verdict holds no {type(value).__name__}")


def _value(tree: Any) -> Any:
    if not isinstance(tree, list):
        return tree
    kind, *content = tree
    if kind == "complex":
        return complex(*content)
    if kind == "array":
        return _array(*content)
    if kind == "number":
        return _array(*content)[()]
    if kind == "tuple":
        return tuple(map(_value, content))
    if kind == "list":
        return list(map(_value, content))
    if kind == "dict":
        return {_value(key): _value(each) for key, each in content}
    if kind == "object" and content[0] in KNOWN:
        name, held = content
        return KNOWN[name](**{key: _value(each) for key, each in held.items()})
    raise ValueError(f"a verdict holds no {kind} {content[:1]}")


def _bytes(array: np.ndarray) -> str:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return base64.b64encode(file.getvalue()).decode("ascii")


def _array(text: str) -> np.ndarray:
    found: np.ndarray = np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False)
    return found
