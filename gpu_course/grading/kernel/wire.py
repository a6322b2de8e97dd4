"""A verdict on its way here from the process that made it: JSON, and the bytes of its arrays.

Verdicts, reports and what they hold cross as their names and fields, so what arrives is data,
whatever sent it.
"""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.grading.verdict import Verdict
from gpu_course.puzzle.specification import Case
from simt.report import Counters, GlobalCounters, Hazard, LaunchShape, Report, SharedCounters, Touch

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
    packed = _Packed()
    tree = _tree(reply, packed)
    return json.dumps({"verdict": tree, "arrays": packed.parts})


def loads(line: str) -> Verdict | CourseError:
    """Returns what `dumps` wrote.

    Raises:
        ValueError: the line is nothing that it writes.
    """
    reply = json.loads(line)
    if "verdict" not in reply:
        return CourseError(reply["fact"], reply["hint"])
    found = _value(reply["verdict"], [_array(*part) for part in reply.get("arrays", ())])
    if not isinstance(found, Verdict):
        raise ValueError("the line holds no verdict")
    return found


class _Packed:
    """The arrays of a verdict, each once: all that a warp touches is told of the same threads."""

    def __init__(self) -> None:
        self.parts: list[tuple[Any, tuple[int, ...], str]] = []
        # An array that is kept cannot lend its id to another.
        self._kept: dict[int, tuple[int, np.ndarray]] = {}

    def number(self, array: np.ndarray) -> int:
        """Returns the place of an array among the parts, where it is put if it is new."""
        known = self._kept.get(id(array))
        if known is None:
            if array.dtype.hasobject:
                raise TypeError("a verdict holds no array of objects")
            known = self._kept[id(array)] = (len(self.parts), array)
            descr = np.lib.format.dtype_to_descr(array.dtype)
            text = base64.b64encode(array.tobytes()).decode("ascii")
            self.parts.append((descr, array.shape, text))
        return known[0]


def _tree(value: Any, packed: _Packed) -> Any:
    """Returns a value as JSON: scalars as they are, all else as [kind, content ...]."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, complex) and not isinstance(value, np.generic):
        return ["complex", value.real, value.imag]
    if isinstance(value, np.ndarray):
        return ["array", packed.number(value)]
    if isinstance(value, np.generic):
        return ["number", packed.number(np.asarray(value))]
    if isinstance(value, tuple | list):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return [kind, *(_tree(each, packed) for each in value)]
    if isinstance(value, Mapping):
        pairs = ([_tree(key, packed), _tree(each, packed)] for key, each in value.items())
        return ["dict", *pairs]
    known = KNOWN.get(type(value).__name__)
    if known is type(value):
        held = {each.name: getattr(value, each.name) for each in dataclasses.fields(known)}
        fields = {name: _tree(each, packed) for name, each in held.items()}
        return ["object", type(value).__name__, fields]
    raise TypeError(f"a verdict holds no {type(value).__name__}")


def _value(tree: Any, arrays: Sequence[np.ndarray]) -> Any:
    if not isinstance(tree, list):
        return tree
    kind, *content = tree
    if kind == "complex":
        return complex(*content)
    if kind == "array":
        return arrays[content[0]]
    if kind == "number":
        return arrays[content[0]][()]
    if kind == "tuple":
        return tuple(_value(each, arrays) for each in content)
    if kind == "list":
        return [_value(each, arrays) for each in content]
    if kind == "dict":
        return {_value(key, arrays): _value(each, arrays) for key, each in content}
    if kind == "object" and content[0] in KNOWN:
        name, held = content
        return KNOWN[name](**{key: _value(each, arrays) for key, each in held.items()})
    raise ValueError(f"a verdict holds no {kind} {content[:1]}")


def _array(descr: Any, shape: Sequence[int], text: str) -> np.ndarray:
    # A copy, since what lies on bytes cannot be written to.
    flat = np.frombuffer(base64.b64decode(text), np.lib.format.descr_to_dtype(descr)).copy()
    return flat.reshape(shape)
