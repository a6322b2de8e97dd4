"""Which named mistake of a Python puzzle a wrong result comes from: the one that gives the same."""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from gpu_course.grading.diagnoses import compare
from gpu_course.grading.python.answers import PythonAnswer
from gpu_course.grading.python.cases import Tried
from gpu_course.grading.python.child import Child
from gpu_course.grading.python.children import child_of
from gpu_course.grading.python.reading import function_named, what_it_lacks
from gpu_course.grading.python.replies import Raised, Reply, Returned
from gpu_course.grading.python.trouble import Trouble
from gpu_course.isolation.processes import Ended, OutOfMemory, OutOfTime, TooManyThreads
from gpu_course.puzzle import Mistake, PythonPuzzle, room

if TYPE_CHECKING:
    from gpu_course.grading.python.ranked import RankedChild


_SENT = {"messages", "booked_bytes"}
"""What is counted of an answer on ranks, and tells apart what ends alike."""
TRIES = 2
"""So often one is tried that comes to no result, and not by a line of its own."""
_ALL = "all"
TOGETHER = 12
"""Mistakes that one process, or one set of ranks, tries: groups of ranks that each of them forms
stay open until it ends, and some twenty times as many are more than it may hold."""


@dataclass(frozen=True)
class Recognised:
    """What was found behind a wrong result.

    Attributes:
        diagnosis: of the mistake that gives the same; None where none does.
        passed_over: the mistakes that came to no result, by name, with what ended each.
    """

    diagnosis: str | None
    passed_over: Mapping[str, str]


def recognised(
    puzzle: PythonPuzzle,
    tried: Tried,
    place: str,
    got: Mapping[str, Any],
    before: Sequence[Tried],
    after: Sequence[tuple[Tried, Mapping[str, Any]]],
    seed: int,
    text: str = "",
    *,
    warm: bool = True,
) -> Recognised:
    """Returns the diagnosis of the mistake that gives the same wrong result; None where none does.

    Each is run on the very case that went wrong, on the same inputs, one after the other in a
    process like the answer's. It has to give the same where the answer was found wrong, and may be
    wrong nowhere else than the answer, neither in this case nor in those before; of those it is the
    first that agrees in most outputs, and on ranks in what was sent. A result that tells little,
    such as an empty list, may come from anywhere: then it has to give the same in further cases
    too. What the text of the answer rules out is not tried (see `reading`). An installed package
    has no mistakes, and recognises none.

    Args:
        puzzle, tried: what went wrong.
        place: where the answer was found wrong; it begins with the name of the output.
        got: the outputs of the answer, as they were compared.
        before: the cases in which the answer was right.
        after: further cases with what the answer gave there, or nothing where it came to no result.
        seed: drew the random case.
        text: of the answer; "" rules out nothing.
        warm: see `child_of`.
    """
    left = [mistake for mistake in puzzle.mistakes if mistake.reason == "wrong-result"]
    answer = _all_of(puzzle) if left else None
    if answer is not None:
        left = _possible(puzzle, left, text, answer.text)
    if puzzle.ranks is not None:
        # Another number of ranks has to be started anew: those come last, and one after the other.
        ranks, of = puzzle.ranks(tried.case), puzzle.ranks
        before = sorted(before, key=lambda each: (of(each.case) != ranks, of(each.case)))
    due, own = _parts(tried.expected, got), _parts(got, tried.expected)
    reported = max((name for name in due if place.startswith(name)), key=len)
    right = [name for name in due if name != reported and _same(puzzle, name, own, due)]
    compared = [*due, *sorted(_SENT & set(got))]
    found, most = None, 0
    failures = Counter[str]()
    passed_over: dict[str, str] = {}
    while left:
        assert answer is not None
        begun = 0
        try:
            with child_of(puzzle, answer, seed, warm=warm) as child:
                raised = child.load()
                if raised is not None:
                    passed_over[_ALL] = str(raised)
                    break
                while left and begun < TOGETHER:
                    mistake = left.pop(0)
                    begun += 1
                    reply = _reply(puzzle, tried, child, mistake)
                    if _failed_elsewhere(reply):
                        passed_over[mistake.function] = reply.error["text"]
                    other = _parts(_outputs(puzzle, tried, reply), tried.expected)
                    if _same(puzzle, reported, other, due):
                        continue
                    if not all(_same(puzzle, name, other, due) for name in right):
                        continue
                    agreed = [name for name in compared if _same(puzzle, name, own, other)]
                    if reported not in agreed:
                        continue
                    if (
                        len(agreed) > most
                        and all(_is_right(puzzle, each, child, mistake) for each in before)
                        and all(_gives(puzzle, *each, child, mistake) for each in after)
                    ):
                        found, most = mistake.diagnosis, len(agreed)
                    if most == len(compared):
                        return Recognised(found, passed_over)
        except (Ended, OutOfMemory, OutOfTime, TooManyThreads, Trouble) as error:
            name = mistake.function if begun else _ALL
            failures[name] += 1
            passed_over[name] = f"{type(error).__name__}: {error}"
            # A mistake may end its process in other cases than its own. Before it is passed over,
            # it is tried alone, and once more: those before it, or a machine that had no more to
            # give, may have been at fault. Ranks that stand still alone stand still.
            again = failures[name] < TRIES and (begun != 1 or not isinstance(error, Trouble))
            if begun == 0 and not again:
                break
            if begun > 1 or (begun and again):
                left.insert(0, mistake)
    return Recognised(found, passed_over)


def tells_little(result: Any) -> bool:
    """Returns whether a result may come from anywhere: nothing, zeros and ones, a whole number.

    >>> tells_little([[], None]), tells_little([0, 1]), tells_little(256), tells_little([0, 2])
    (True, True, True, False)
    """
    leaves = list(_leaves(result))
    if len(leaves) == 1 and _is_whole(leaves[0]):
        return True
    return all(each is None or each in (0, 1, "") or _is_endless(each) for each in leaves)


def _is_whole(leaf: Any) -> bool:
    return isinstance(leaf, int) or (isinstance(leaf, float) and leaf.is_integer())


def _is_endless(leaf: Any) -> bool:
    return isinstance(leaf, float) and not math.isfinite(leaf)


def _leaves(result: Any) -> Iterator[Any]:
    if isinstance(result, Mapping):
        result = list(result.values())
    if isinstance(result, np.ndarray):
        yield from np.unique(result).tolist()
    elif isinstance(result, list | tuple):
        for each in result:
            yield from _leaves(each)
    else:
        yield result


def _all_of(puzzle: PythonPuzzle) -> PythonAnswer:
    """The solution and all mistakes in one text, the solution's functions under a name more."""
    right = (room.solutions_folder() / f"{puzzle.name}.py").read_text(encoding="utf-8")
    wrong = room.solutions_folder() / puzzle.lesson / "mistakes" / f"{puzzle.short_name}.py"
    kept = "\n".join(f"{_kept(name)} = {name}" for name in puzzle.functions)
    text = f"{right}\n\n{kept}\n\n{wrong.read_text(encoding='utf-8')}"
    return PythonAnswer(text, f"the mistakes of {puzzle.name}")


def _possible(
    puzzle: PythonPuzzle, left: Sequence[Mistake], text: str, mistakes: str
) -> list[Mistake]:
    """The mistakes that may stand behind an answer: those that lack whatever it lacks."""
    lacks = {name: what_it_lacks(function_named(text, name)) for name in puzzle.functions}
    return [
        each
        for each in left
        if not lacks[each.stands_for]
        or lacks[each.stands_for] <= what_it_lacks(function_named(mistakes, each.function))
    ]


def _kept(name: str) -> str:
    return f"_right_{name}"


def _reply(
    puzzle: PythonPuzzle, tried: Tried, child: Child | RankedChild, mistake: Mistake
) -> Reply:
    """What the solution replies with a mistake in its place."""
    others = {name: _kept(name) for name in puzzle.functions}
    stand_ins = others | {mistake.stands_for: mistake.function}
    for _ in range(TRIES - 1):
        reply = child.run(tried, stand_ins=stand_ins)
        if not _failed_elsewhere(reply):
            return reply
    return child.run(tried, stand_ins=stand_ins)


def _failed_elsewhere(reply: Reply) -> TypeGuard[Raised]:
    """True where no line of the mistake raised what came: the machine may have had no more."""
    return isinstance(reply, Raised) and bool(reply.error["outside"])


def _outputs(puzzle: PythonPuzzle, tried: Tried, reply: Reply) -> Mapping[str, Any]:
    """The outputs to compare; nothing where it came to no result."""
    return followed(puzzle, tried, reply.got) if isinstance(reply, Returned) else {}


def followed(puzzle: PythonPuzzle, tried: Tried, got: dict[str, Any]) -> Mapping[str, Any]:
    """Returns the outputs to compare: what came, or what following it leads to; {} if nowhere."""
    if puzzle.follow is None or not got:
        return got
    try:
        return puzzle.follow(copy.deepcopy(dict(tried.inputs)), tried.case, got)
    except Exception:  # Whatever cannot be followed leads nowhere.
        return {}


def _is_right(
    puzzle: PythonPuzzle, tried: Tried, child: Child | RankedChild, mistake: Mistake
) -> bool:
    other = _outputs(puzzle, tried, _reply(puzzle, tried, child, mistake))
    return all(_same(puzzle, name, other, tried.expected) for name in tried.expected)


def _gives(
    puzzle: PythonPuzzle,
    tried: Tried,
    got: Mapping[str, Any],
    child: Child | RankedChild,
    mistake: Mistake,
) -> bool:
    """Whether a mistake gives what the answer gave; nothing, where it came to no result."""
    other = _outputs(puzzle, tried, _reply(puzzle, tried, child, mistake))
    if not got:
        return not other
    return all(_same(puzzle, name, got, other) for name in tried.expected)


def _parts(outputs: Mapping[str, Any], like: Mapping[str, Any]) -> dict[str, Any]:
    """Returns outputs by name; those with the entries of one alike entry by entry."""
    found: dict[str, Any] = {}
    for name, value in outputs.items():
        other = like.get(name)
        if isinstance(value, Mapping) and isinstance(other, Mapping) and set(value) == set(other):
            found |= {f"{name}[{key!r}]": each for key, each in value.items()}
        else:
            found[name] = value
    return found


def _same(
    puzzle: PythonPuzzle, name: str, one: Mapping[str, Any], other: Mapping[str, Any]
) -> bool:
    """Whether an output is there both times, and the same within the tolerance."""
    if name not in one or name not in other:
        return False
    return compare.first_difference(one[name], other[name], puzzle.tolerance, name) is None
