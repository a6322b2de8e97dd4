"""What an answer's process may say of a case: a declared shape, or it is no reply.

Whatever the process sends is the answer's own word. Here it becomes data of known types, before
any message is made of it and before any puzzle judges it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MAX_TEXT = 2000
MAX_NAME = 200
MAX_FRAMES = 4
LAST_LINE = 10_000_000
_KEY = re.compile(r"[a-z0-9-]{1,60}")


class NoReply(ValueError):
    """A message of another shape."""


@dataclass(frozen=True)
class Raised:
    """The answer raised an exception.

    Attributes:
        error: "type", "text", "frames" as (function, line), "outside" and "memory".
    """

    error: Mapping[str, Any]


@dataclass(frozen=True)
class Rejected:
    """What the harness could do nothing with: the diagnosis, and a line on what it was.

    Attributes:
        frames: the lines of the answer it came through, as (function, line).
    """

    key: str
    text: str
    frames: Sequence[tuple[str, int]] = ()


@dataclass(frozen=True)
class Unsendable:
    """The result is none of the values that may cross."""

    text: str


@dataclass(frozen=True)
class TooLarge:
    """The result is too large to cross."""

    text: str


@dataclass(frozen=True)
class Returned:
    """The result, and those inputs that are no longer what they were."""

    got: dict[str, Any]
    changed: dict[str, Any] = field(default_factory=dict)


Reply = Raised | Rejected | Unsendable | TooLarge | Returned


def reply_to(turn: int, message: Mapping[str, Any], inputs: Mapping[str, Any]) -> Reply:
    """Returns the reply to one case.

    Args:
        turn: which case it has to be about.
        message: what came.
        inputs: of the case.

    Raises:
        NoReply: it is of another shape, or about another case.
    """
    content = dict(message)
    about = content.pop("turn", None)
    if type(about) is not int or about != turn:
        raise NoReply("about another case")
    if set(content) == {"got", "changed"}:
        got, changed = content["got"], content["changed"]
        if type(got) is not dict or type(changed) is not dict or not set(changed) <= set(inputs):
            raise NoReply("no result")
        return Returned(got, changed)
    if len(content) != 1:
        raise NoReply("several things at once")
    ((kind, said),) = content.items()
    if kind == "raised":
        return raised(said)
    if kind == "unusable":
        frames, rest = _with_frames(said, "no diagnosis")
        found = _fields(rest, {"key": MAX_NAME, "text": MAX_TEXT})
        if not _KEY.fullmatch(found["key"]):
            raise NoReply("no diagnosis")
        return Rejected(found["key"], found["text"], frames)
    if kind == "unsendable":
        return Unsendable(_text(said, MAX_TEXT))
    if kind == "large":
        return TooLarge(_text(said, MAX_TEXT))
    raise NoReply("an unknown reply")


def raised(said: Any) -> Raised:
    """Returns what is said of an exception.

    Raises:
        NoReply: it is of another shape.
    """
    frames, found = _with_frames(said, "no exception")
    memory = found.pop("memory", None)
    if type(memory) is not bool:
        raise NoReply("no exception")
    names = {"type": MAX_NAME, "text": MAX_TEXT, "outside": MAX_NAME}
    return Raised({**_fields(found, names), "frames": frames, "memory": memory})


def _with_frames(said: Any, otherwise: str) -> tuple[list[tuple[str, int]], dict[str, Any]]:
    """The frames of what is said, and the rest of it."""
    if type(said) is not dict:
        raise NoReply(otherwise)
    rest = dict(said)
    frames = rest.pop("frames", None)
    if type(frames) is not list or len(frames) > MAX_FRAMES:
        raise NoReply(otherwise)
    return [_frame(f) for f in frames], rest


def _frame(said: Any) -> tuple[str, int]:
    if type(said) is not tuple or len(said) != 2:
        raise NoReply("no frame")
    function, line = said
    if type(line) is not int or not 0 < line < LAST_LINE:
        raise NoReply("no line")
    return _text(function, MAX_NAME), line


def _fields(said: Any, most: Mapping[str, int]) -> dict[str, str]:
    if type(said) is not dict or set(said) != set(most):
        raise NoReply("other fields")
    return {name: _text(said[name], limit) for name, limit in most.items()}


def _text(said: Any, most: int) -> str:
    if type(said) is not str or len(said) > most:
        raise NoReply("no text")
    return said
