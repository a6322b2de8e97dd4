"""What a learner reads about an answer that ran: the fact, the call that led to it, what to do."""

from __future__ import annotations

import ast
import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_course.grading.diagnoses.compare import (
    Difference,
    first_difference,
    more_of,
    show,
    two_values,
)
from gpu_course.grading.diagnoses.patterns import Pattern
from gpu_course.grading.diagnoses.sentences import ANOTHER_ERROR, CLOSER, sentence_of_raised
from gpu_course.grading.python.answers import PythonAnswer
from gpu_course.grading.python.cases import Tried, part_of
from gpu_course.grading.python.memory_messages import asked_for, needs_too_much, what_helps
from gpu_course.grading.python.reading import set_outside
from gpu_course.grading.python.trouble import Trouble
from gpu_course.grading.verdicts.messages import (
    cells_around,
    debrief_sections,
    describe,
    reason,
    which_case,
    which_hint,
)
from gpu_course.grading.verdicts.sections import Section, below, code_line, fact, section
from gpu_course.isolation.processes import MAX_THREADS, Ended, TooManyThreads
from gpu_course.puzzle import Case, PythonPuzzle
from gpu_course.puzzle.harness.refusing import TOLD
from gpu_course.ranks.stuck import IN_NO_CALL
from simt.text import clean, one_line

MAX_PRINTED_LINES = 6
MAX_INPUT = 40
MAX_RANKS_SHOWN = 8
MAX_SHOWN = 60
"""Characters of a result that a pass shows."""
DIVISIONS = "a division by / gives a float, one by // a whole number"
"""What helps where a float came and a whole number was asked for."""

# What PyTorch's log puts before an error in C++, and prints as well.
_LOG_HEAD = re.compile(r"\[rank\d+\]:\[F\d{4} [\d:.]+ \S+:\d+\] ")

# What Python's faulthandler prints.
_GLOO_ON_SIZES = re.compile(
    r"terminate called after throwing an instance of 'gloo::EnforceNotMet'\n"
    r"  what\(\):  \[enforce fail at [^\]]*\] op\.preamble\.length <= op\.nbytes\..*\n?"
)
_LAST_WORDS = re.compile(r"Fatal Python error: .*|Timeout \(.*\)!")
_FRAME = re.compile(r'  File "(.*)", line (\d{1,7}) in (.*)')
_STACK = re.compile(
    rf"|{_FRAME.pattern}|  \.\.\.|(Current thread|Thread|Stack) .*|  <.*>|Extension modules: .*"
)


def call_of(puzzle: PythonPuzzle, tried: Tried) -> list[Section]:
    """Returns the call of a case as one could type it; none where a harness calls unseen."""
    if puzzle.call is not None:
        return section("call", puzzle.call(dict(tried.inputs)))
    if puzzle.harness:
        return []
    function = puzzle.functions[0]
    inputs = tried.inputs if puzzle.ranks is None else part_of(tried.inputs, 0)
    given = (f"{name}={show(inputs[name], MAX_INPUT)}" for name in puzzle.parameters[function])
    where = "" if puzzle.ranks is None else " on rank 0"
    return section("call", f"{function}({', '.join(given)}){where}")


def wrong_result(
    puzzle: PythonPuzzle, tried: Tried, difference: Difference, pattern: Pattern, others: str = ""
) -> list[Section]:
    """Returns what is said of a result that is not the expected one.

    Args:
        puzzle, tried, difference, pattern: what is wrong, where, and what it looks like.
        others: which ranks have it right.
    """
    key = pattern.key
    why = reason(puzzle, key, pattern.fact)
    if key not in puzzle.diagnoses and (closer := more_of(difference, key)):
        seen = f"{pattern.fact[:1].upper()}{pattern.fact[1:]}. " if pattern.fact else ""
        why = section("why", f"{seen}{CLOSER[closer]}")
    said = [*fact(difference.fact), *why]
    wrong = isinstance(difference.got, float) and type(difference.expected) is int
    if wrong and not any("division by /" in line for each in why for line in each.lines):
        said += section("try", DIVISIONS)
    if others:
        said += section("also", others)
    if difference.right is not None:
        got, expected = difference.got, difference.expected
        rows = [("got", got), ("expected", expected)]
        said += cells_around(rows, difference.right, at=difference.at)
    return said + _case(puzzle, tried, pattern.key)


def judged(
    puzzle: PythonPuzzle,
    tried: Tried,
    key: str,
    what: str,
    answer: PythonAnswer | None = None,
    frames: Any = (),
    seen: str = "",
) -> list[Section]:
    """Returns what is said of what a puzzle's own judgement, or its harness, found.

    Args:
        puzzle, tried, key, what: the case and what was found.
        answer, frames: the answer, and the lines of it that an error came through.
        seen: what the text of the answer shows beside it.
    """
    said = fact(one_line(what))
    if answer is not None:
        places = _frames({"frames": frames}) or _named_backward(what, answer)
        said += _places(places[-1:], answer)
    return [*said, *reason(puzzle, key, seen), *_case(puzzle, tried, key)]


def _named_backward(error: str, answer: PythonAnswer) -> list[tuple[str, int]]:
    """The backward of the autograd function that PyTorch names, which no frame leads to."""
    named = re.search(r"function (\w+)Backward\b", error)
    try:
        tree = ast.parse(answer.text)
    except (SyntaxError, ValueError):
        return []
    for node in ast.walk(tree):
        if named and isinstance(node, ast.ClassDef) and node.name == named[1]:
            for each in node.body:
                if isinstance(each, ast.FunctionDef) and each.name == "backward":
                    returns = [n.lineno for n in ast.walk(each) if isinstance(n, ast.Return)]
                    return [("backward", returns[-1] if returns else each.lineno)]
    return []


def unsendable(puzzle: PythonPuzzle, tried: Tried, text: str) -> list[Section]:
    """Returns what is said of a result that is no plain value."""
    what = one_line(text).replace("the value['result']", "result").replace("the value", "result")
    why = reason(puzzle, "wrong-type")
    if "generator" in what and "wrong-type" not in puzzle.diagnoses:
        why = section("why", CLOSER["generator"])
    said = [*fact(f"{what}; return plain values or arrays"), *why]
    return said + _case(puzzle, tried, "wrong-type")


def raised(
    puzzle: PythonPuzzle, answer: PythonAnswer, tried: Tried | None, error: Mapping[str, Any]
) -> list[Section]:
    """Returns what is said of an exception: the learner's own lines, the innermost first.

    Args:
        puzzle, answer: what was tried.
        tried: the case, or None while the file itself was run.
        error: what the child says of it; every part is the answer's word and no more.
    """
    text = _LOG_HEAD.sub("", clean(str(error.get("text", "")))).strip()
    name = one_line(str(error.get("type", "Exception")))[:80]
    head, *rest = text.splitlines() or [""]
    rank = error.get("rank")
    who = "" if rank is None else f"rank {rank} raised "
    what = f"{who}{name}: {head}" if head else f"{who}{name}"
    more = [each.strip() for each in rest[:3]]
    out_of_memory = error.get("memory") is True
    said = fact(what, *more)
    if out_of_memory:
        said = [*fact(needs_too_much(puzzle)), *asked_for(what, *more)]
    said += _places(_frames(error), answer)
    outside = one_line(str(error.get("outside", "")))[:100]
    if outside:
        said += section(
            "where", f"{outside}, not in your file: it was given a value that does not fit"
        )
    why = section(
        "why", _of_a_name(name, head, error, answer) or sentence_of_raised(puzzle, name, head)
    )
    if tried is not None and tried.is_to_be_refused:
        why = section("why", ANOTHER_ERROR)
    if out_of_memory:
        why = what_helps(puzzle)
    return [*said, *why, *_case(puzzle, tried, "memory" if out_of_memory else "exception")]


def _of_a_name(name: str, head: str, error: Mapping[str, Any], answer: PythonAnswer) -> str:
    """What is told of a name that a function inside sets, where the one outside was meant."""
    unset, frames = re.search(r"local variable '(\w+)'", head), _frames(error)
    if name != "UnboundLocalError" or unset is None or not frames:
        return ""
    inside = set_outside(answer.text, frames[-1][1], unset[1])
    if not inside:
        return ""
    return (
        f"`{inside}` sets `{unset[1]}`, which makes it a name of its own that holds nothing yet. "
        "`nonlocal` says that the one of the function outside is meant."
    )


def _places(frames: Sequence[tuple[str, int]], answer: PythonAnswer) -> list[Section]:
    """Returns where in the answer something happened, the innermost line first."""
    said: list[Section] = []
    for number, (function, place) in enumerate(reversed(frames)):
        where = f"{answer.file}:{place}"
        if function != "<module>":
            where = f"{function}, {where}"
        said += section("from" if number else "where", where, *code_line(answer.line(place)))
    return said


def in_trouble(
    puzzle: PythonPuzzle, answer: PythonAnswer, tried: Tried | None, trouble: Trouble, key: str
) -> list[Section]:
    """Returns what is said of ranks that did not come to their end: where each of them stands.

    Args:
        puzzle, answer: what was tried.
        tried: the case, or None while the file itself was run.
        trouble: what happened.
        key: the diagnosis.
    """
    said = fact(one_line(trouble.fact))
    for each in trouble.stand[:MAX_RANKS_SHOWN]:
        if each.text in trouble.fact:
            continue
        where = f", line {each.line}" if each.line else ""
        said += section(f"rank {each.rank}", f"{each.text}{where}")
    stand = trouble.stand
    if trouble.reason == "deadline":
        # Who waits does no wrong; where the others are, they said themselves.
        stand = tuple(each for each in stand if each.text == IN_NO_CALL)
    places = list(dict.fromkeys(each.line for each in stand if each.line))
    for number, place in enumerate(places[:2]):
        label, code = "and" if number else "where", code_line(answer.line(place))
        said += section(label, f"{answer.file}:{place}", *code)
    return [*said, *reason(puzzle, key), *_case(puzzle, tried, key)]


def ended(puzzle: PythonPuzzle, tried: Tried | None, fault: Ended) -> list[Section]:
    """Returns what is said of a process that ended, or spoke nonsense, before its result."""
    return [*fact(_how(fault)), *reason(puzzle, "crash"), *_case(puzzle, tried, "crash")]


def _how(fault: Ended) -> str:
    if fault.what == "signal":
        try:
            name = signal.Signals(fault.status).name
        except ValueError:
            name = "unknown"
        if name == "SIGKILL":
            return (
                f"your code's process was ended from outside: signal {fault.status} ({name}), as a "
                "system does when its memory is full"
            )
        return f"your code ended its process: signal {fault.status} ({name})"
    if fault.what == "exit":
        return f"your code ended its process, with status {fault.status}, before it gave a result"
    return "what your code's process sent back is not a result"


def out_of_time(puzzle: PythonPuzzle, tried: Tried | None) -> list[Section]:
    """Returns what is said of an answer that did not end in time."""
    what = "the file did not finish loading" if tried is None else "no result"
    seconds = f"{puzzle.seconds:g} {'second' if puzzle.seconds == 1 else 'seconds'}"
    said = [*fact(f"{what} within {seconds}"), *reason(puzzle, "deadline")]
    return said + _case(puzzle, tried, "deadline")


def too_large(puzzle: PythonPuzzle, tried: Tried, text: str) -> list[Section]:
    """Returns what is said of a result that is too large to be handed over."""
    said = fact(f"the result is too large to be handed over: {one_line(text)}")
    return [*said, *reason(puzzle, "memory"), *_case(puzzle, tried, "memory")]


def out_of_memory(puzzle: PythonPuzzle, tried: Tried | None) -> list[Section]:
    """Returns what is said of an answer that was ended for the memory it held."""
    return [*fact(needs_too_much(puzzle)), *what_helps(puzzle), *_case(puzzle, tried, "memory")]


def too_many_threads(
    puzzle: PythonPuzzle, tried: Tried | None, many: TooManyThreads
) -> list[Section]:
    """Returns what is said of an answer that was ended for the threads it started."""
    what = f"your code runs {many.number:,} threads at one time; {MAX_THREADS} are allowed"
    return [*fact(what), *_case(puzzle, tried, "crash")]


def not_held(puzzle: PythonPuzzle, tried: Tried, limit_bytes: int) -> list[Section]:
    """Returns what is said of a large case that did not fit into the memory the kernel gave it."""
    mib = f"{limit_bytes / 2**20:.0f} MiB"
    return [
        *fact(f"right, but a large case takes more than the {mib} allowed"),
        *section("why", "the system refused your process more memory; it counts every byte"),
        *_case(puzzle, tried, "over-budget"),
    ]


def self_counted() -> list[Section]:
    """Returns by whom the memory was counted where no kernel could do it."""
    text = "the memory was counted inside your own process: a self-check, no proof"
    return section("note", text)


def input_changed(puzzle: PythonPuzzle, tried: Tried, changed: Mapping[str, Any]) -> list[Section]:
    """Returns what is said of an input that an answer changed."""
    name, *others = changed
    before: Any = _input(tried.inputs, name)
    after: Any = changed[name]
    name, before, after = _as_passed(puzzle, name, before, after) or (name, before, after)
    name, before, after = _innermost(name, before, after)
    how = "was {}, is {}".format(*two_values(before, after))
    if _alike(before, after):
        differs = (before != after) & ~((before != before) & (after != after))
        index = tuple(int(i) for i in np.unravel_index(int(np.argmax(differs)), before.shape))
        plain, of_rank, rank = name.partition(" of rank ")
        cell = f"{plain}[{', '.join(map(str, index))}]{of_rank}{rank}"
        how = f"{cell} was " + ", is ".join(two_values(before[index].item(), after[index].item()))
    said = [*fact(f"the input {name} was changed: {how}"), *reason(puzzle, "input-changed")]
    if others:
        said += section("also", f"{', '.join(others)} changed as well")
    return said + _case(puzzle, tried, "input-changed")


def _as_passed(
    puzzle: PythonPuzzle, name: str, before: Any, after: Any
) -> tuple[str, Any, Any] | None:
    """Returns the argument that was changed, where an input holds those of a call; None if none.

    A harness may be given all arguments by name, or a list of calls (function, arguments ...).
    """
    if any(name in names for names in puzzle.parameters.values()):
        return name, before, after
    if isinstance(before, Mapping) and isinstance(after, Mapping) and set(before) == set(after):
        parts = [(str(key), each, after[key]) for key, each in before.items()]
    elif isinstance(before, list | tuple) and isinstance(after, list | tuple):
        if len(before) != len(after):
            return None
        function = before[0] if before and isinstance(before[0], str) else ""
        names = ["", *puzzle.parameters.get(function, ())]
        names += [""] * (len(before) - len(names))
        parts = list(zip(names, before, after, strict=False))
    else:
        return None
    changed = (part for part in parts if first_difference(*part[1:], (0.0, 0.0), "") is not None)
    found = next(changed, None)
    return found and _as_passed(puzzle, *found)


def _innermost(name: str, before: Any, after: Any) -> tuple[str, Any, Any]:
    """Returns the array that was changed within a list of them, with its place in the name."""
    if not isinstance(before, list | tuple) or not isinstance(after, list | tuple):
        return name, before, after
    pairs = list(zip(before, after, strict=False))
    if len(before) != len(after) or not all(isinstance(one, np.ndarray) for one, _ in pairs):
        return name, before, after
    differ = (first_difference(b, a, (0.0, 0.0), "") is not None for a, b in pairs)
    at = next((n for n, other in enumerate(differ) if other), 0)
    plain, of_rank, rank = name.partition(" of rank ")
    return f"{plain}[{at}]{of_rank}{rank}", before[at], after[at]


def _input(inputs: Mapping[str, Any], name: str) -> Any:
    """Returns an input by its name, or by "NAME of rank N"."""
    plain, of_rank, rank = name.partition(" of rank ")
    return part_of(inputs, int(rank) if of_rank else 0).get(plain)


def _alike(before: Any, after: Any) -> bool:
    """True for two arrays of one shape, which is not empty."""
    arrays = isinstance(before, np.ndarray) and isinstance(after, np.ndarray)
    return arrays and before.shape == after.shape and before.size > 0


def without_stack(text: str, answer: PythonAnswer) -> tuple[str, list[Section]]:
    """Returns what was printed without Python's last words, and the line of the answer in them.

    Nor does it have what PyTorch's log says of an error that is raised as well. When a process is
    about to end, Python prints where it is, and gloo that a message is longer than what it is
    received into. An answer could print the same; it would mislead nobody but its own reader.
    """
    kept: list[str] = []
    frames: list[tuple[int, str]] = []
    inside = False
    for each in _GLOO_ON_SIZES.sub("", text).splitlines():
        inside = bool(_LAST_WORDS.fullmatch(each)) or (inside and bool(_STACK.fullmatch(each)))
        if not inside and not _LOG_HEAD.match(each):
            kept.append(each)
        elif inside and (frame := _FRAME.fullmatch(each)) and frame[1] == answer.file:
            frames.append((int(frame[2]), frame[3]))
    if not frames:
        return "\n".join(kept), []
    number, function = frames[0]
    place = f"{answer.file}:{number}" if function == "<module>" else ""
    place = place or f"{function}, {answer.file}:{number}"
    return "\n".join(kept), section("where", place, *code_line(answer.line(number)))


def without_refusals(text: str, what: str) -> str:
    """Returns what was printed, with what a harness told of a ValueError only where it helps.

    That is where a result was expected: elsewhere the error was the right answer.

    Args:
        text: what was printed.
        what: the fact of the verdict.
    """
    if "raised a ValueError" in what:
        return text
    return "".join(each for each in text.splitlines(True) if not each.startswith(TOLD))


def printed(text: str) -> list[Section]:
    """Returns what an answer printed, the last lines of it, set apart from the grader's words."""
    shown = text.rstrip().splitlines()
    if not shown:
        return []
    kept = shown[-MAX_PRINTED_LINES:]
    before = len(shown) - len(kept)
    count = f"{before} {'line' if before == 1 else 'lines'}"
    more = below(f"({count} before)") if before else []
    return [*more, *section("prints", *(each[:160] for each in kept))]


def pass_sections(puzzle: PythonPuzzle, tried: Tried, got: Mapping[str, Any]) -> list[Section]:
    """Returns what a pass of Python says beyond the points.

    Args:
        puzzle: the puzzle.
        tried, got: the visible example, and what came of it.
    """
    told = puzzle.debrief
    if told is None:
        return []
    parts = [_measured(name, got[name]) for name in told.shows if name in got]
    # Where the sizes of a case say little of what the answer was given, its call says it.
    call = None if puzzle.call is None else puzzle.call(dict(tried.inputs))
    case = call or describe(_as_stated(puzzle, tried.case))
    return [*section("yours", f"{case}: {', '.join(parts)}"), *debrief_sections(told)]


def _as_stated(puzzle: PythonPuzzle, case: Case) -> Case:
    """Returns a case with those sizes alone that the statement has a word for.

    The others are the catalogue's own, such as which kind of input is drawn.
    """
    words = set(re.findall(r"\w+", puzzle.statement))
    return replace(case, sizes={name: n for name, n in case.sizes.items() if name in words})


def _measured(name: str, value: Any) -> str:
    """Returns a result or a measurement in words: "peak bytes 24,232"."""
    if name == "schedule":
        return f"a schedule of {len(value)} operations"
    if isinstance(value, Mapping):
        return ", ".join(_measured(str(key), each) for key, each in value.items())
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    text = f"{int(value):,}" if whole else show(value, MAX_SHOWN, rough=True)
    if isinstance(value, float):
        text = f"{value:.6g}"
    return f"returned {text}" if name == "result" else f"{name.replace('_', ' ')} {text}"


def _case(puzzle: PythonPuzzle, tried: Tried | None, key: str) -> list[Section]:
    """Returns the case and its call, if it came to one, and which hint there is."""
    if tried is None:
        return which_hint(puzzle, key)
    call = call_of(puzzle, tried)
    # A call says the sizes better than their names do.
    case = section("case", tried.case.name) if call else which_case(tried.case)
    return [*case, *call, *which_hint(puzzle, key)]


def _frames(error: Mapping[str, Any]) -> Sequence[tuple[str, int]]:
    out = []
    for frame in error.get("frames") or ():
        if isinstance(frame, list | tuple) and len(frame) == 2 and type(frame[1]) is int:
            out.append((one_line(str(frame[0]))[:80], frame[1]))
    return out[-4:]
