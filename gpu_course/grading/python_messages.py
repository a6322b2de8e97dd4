"""What a learner reads about an answer that ran: the fact, the call that led to it, what to do."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpu_course.catalog import PythonPuzzle
from gpu_course.grading.compare import Difference, show
from gpu_course.grading.diagnosis import Pattern
from gpu_course.grading.isolation.processes import MOST_THREADS, Ended, TooManyThreads
from gpu_course.grading.memory_messages import asked_for, needs_too_much, what_helps
from gpu_course.grading.messages import advice, case_line, hint_command, line
from gpu_course.grading.python_answers import PythonAnswer
from gpu_course.grading.python_cases import Tried
from gpu_course.text import clean, one_line

MOST_PRINTED_LINES = 6
MOST_INPUT = 80

# What Python's faulthandler prints.
_LAST_WORDS = re.compile(r"Fatal Python error: .*|Timeout \(.*\)!")
_FRAME = re.compile(r'  File "(.*)", line (\d{1,7}) in (.*)')
_STACK = re.compile(
    rf"|{_FRAME.pattern}|  \.\.\.|(Current thread|Thread|Stack) .*|  <.*>|Extension modules: .*"
)


def call_line(puzzle: PythonPuzzle, tried: Tried) -> list[str]:
    """Returns the call of a case as one could type it, or its inputs where a harness calls."""
    if puzzle.call is not None:
        return line("call", puzzle.call(dict(tried.inputs)))
    shown = {name: show(value, MOST_INPUT) for name, value in tried.inputs.items()}
    if puzzle.harness:
        return line("inputs", ", ".join(f"{name} = {text}" for name, text in shown.items()))
    function = puzzle.functions[0]
    given = (f"{name}={shown[name]}" for name in puzzle.parameters[function])
    return line("call", f"{function}({', '.join(given)})")


def wrong_result(
    puzzle: PythonPuzzle, tried: Tried, difference: Difference, pattern: Pattern
) -> list[str]:
    """Returns the lines on a result that is not the expected one."""
    lines = [difference.fact, *_place(puzzle, tried)]
    got, expected = difference.got, difference.expected
    if difference.right is not None and got.ndim == 1 and 1 < got.size <= 16:
        lines += [*line("got", show(got)), *line("wanted", show(expected))]
    return lines + advice(puzzle, pattern.key, pattern.fact)


def found(puzzle: PythonPuzzle, tried: Tried, key: str, fact: str) -> list[str]:
    """Returns the lines on what a puzzle's own judgement, or its harness, found."""
    return [one_line(fact), *_place(puzzle, tried), *advice(puzzle, key)]


def unsendable(puzzle: PythonPuzzle, tried: Tried, text: str) -> list[str]:
    """Returns the lines on a result that is no plain value."""
    fact = one_line(text).replace("the value['result']", "result").replace("the value", "result")
    lines = [f"{fact}; return plain values or arrays", *_place(puzzle, tried)]
    return lines + advice(puzzle, "wrong-type")


def raised(
    puzzle: PythonPuzzle, answer: PythonAnswer, tried: Tried | None, error: Mapping[str, Any]
) -> list[str]:
    """Returns the lines on an exception: the learner's own lines, the innermost first.

    Args:
        puzzle, answer: what was tried.
        tried: the case, or None while the file itself was run.
        error: what the child says of it; every part is the answer's word and no more.
    """
    text = clean(str(error.get("text", ""))).strip()
    name = one_line(str(error.get("type", "Exception")))[:80]
    head, *rest = text.splitlines() or [""]
    lines = [f"{name}: {head}" if head else name]
    out_of_memory = error.get("memory") is True
    if out_of_memory:
        lines = [needs_too_much(puzzle), *asked_for(lines[0])]
    lines += [f"          {each}" for each in rest[:3]]
    for number, (function, place) in enumerate(reversed(_frames(error))):
        where = f"{answer.file}:{place}"
        if function != "<module>":
            where = f"{function}, {where}"
        lines += line("from" if number else "where", f"{where}    {answer.line(place)}".rstrip())
    outside = one_line(str(error.get("outside", "")))[:100]
    if outside:
        lines += line("where", f"{outside}, not in your file: a value it was given does not fit")
    if tried is not None:
        lines += _place(puzzle, tried)
    return lines + (what_helps(puzzle) if out_of_memory else advice(puzzle, "exception"))


def ended(puzzle: PythonPuzzle, tried: Tried | None, fault: Ended) -> list[str]:
    """Returns the lines on a process that ended, or spoke nonsense, before it gave its result."""
    lines = [_how(fault)]
    if tried is not None:
        lines += _place(puzzle, tried)
    return lines + advice(puzzle, "crash")


def _how(fault: Ended) -> str:
    if fault.what == "signal":
        try:
            name = signal.Signals(fault.status).name
        except ValueError:
            name = "unknown"
        if name == "SIGKILL":
            return (
                f"your code's process was ended from outside: signal {fault.status} ({name}), as a "
                "system does whose memory is full"
            )
        return f"your code ended its process: signal {fault.status} ({name})"
    if fault.what == "exit":
        return f"your code ended its process, with status {fault.status}, before its result was in"
    return "what came from your code's process is no result"


def out_of_time(puzzle: PythonPuzzle, tried: Tried | None) -> list[str]:
    """Returns the lines on an answer that did not end in time."""
    what = "the file did not finish loading" if tried is None else "no result"
    lines = [f"{what} within {puzzle.seconds:g} seconds"]
    if tried is not None:
        lines += _place(puzzle, tried)
    return lines + advice(puzzle, "deadline")


def too_large(puzzle: PythonPuzzle, tried: Tried, text: str) -> list[str]:
    """Returns the lines on a result that is too large to be handed over."""
    lines = [f"the result is too large to be handed over: {one_line(text)}", *_place(puzzle, tried)]
    return lines + advice(puzzle, "memory")


def out_of_memory(puzzle: PythonPuzzle, tried: Tried | None) -> list[str]:
    """Returns the lines on an answer that was ended for the memory it held."""
    lines = [needs_too_much(puzzle)]
    if tried is not None:
        lines += _place(puzzle, tried)
    return lines + what_helps(puzzle)


def too_many_threads(puzzle: PythonPuzzle, tried: Tried | None, many: TooManyThreads) -> list[str]:
    """Returns the lines on an answer that was ended for the threads it started."""
    lines = [f"your code runs {many.number:,} threads at one time; {MOST_THREADS} are allowed"]
    if tried is not None:
        lines += _place(puzzle, tried)
    return [*lines, *line("hint", hint_command(puzzle, "crash"))]


def not_held(puzzle: PythonPuzzle, tried: Tried, limit_bytes: int) -> list[str]:
    """Returns the lines on a large case that did not fit into the memory the kernel gave it."""
    lines = [
        f"right, but a large case takes more than the {limit_bytes / 2**20:.0f} MiB it may",
        *_place(puzzle, tried),
        *line("why", "the system refused your process more; it counts every byte in there"),
    ]
    return [*lines, *line("hint", hint_command(puzzle, "over-budget"))]


def self_counted() -> list[str]:
    """Returns the lines that say by whom the memory was counted where no kernel could do it."""
    return line("note", "the memory was counted inside your own process: a self-check, no proof")


def input_changed(puzzle: PythonPuzzle, tried: Tried, changed: Mapping[str, Any]) -> list[str]:
    """Returns the lines on an input that an answer changed."""
    name, *others = changed
    before: Any = tried.inputs.get(name)
    after: Any = changed[name]
    fact = f"was {show(before)}, is {show(after)}"
    if _alike(before, after):
        differs = (before != after) & ~((before != before) & (after != after))
        index = tuple(int(i) for i in np.unravel_index(int(np.argmax(differs)), before.shape))
        cell = f"{name}[{', '.join(map(str, index))}]"
        fact = f"{cell} was {show(before[index].item())}, is {show(after[index].item())}"
    lines = [f"{name} is an input, and it was changed: {fact}", *_place(puzzle, tried)]
    if others:
        lines += line("also", f"{', '.join(others)} changed as well")
    return lines + advice(puzzle, "input-changed")


def _alike(before: Any, after: Any) -> bool:
    """True for two arrays of one shape, which is not empty."""
    arrays = isinstance(before, np.ndarray) and isinstance(after, np.ndarray)
    return arrays and before.shape == after.shape and before.size > 0


def without_stack(text: str, answer: PythonAnswer) -> tuple[str, list[str]]:
    """Returns what was printed without Python's last words, and the line of the answer in them.

    When a process is about to end, Python prints where it is. An answer could print the same; it
    would mislead nobody but its own reader.
    """
    kept: list[str] = []
    frames: list[tuple[int, str]] = []
    inside = False
    for each in text.splitlines():
        inside = bool(_LAST_WORDS.fullmatch(each)) or (inside and bool(_STACK.fullmatch(each)))
        if not inside:
            kept.append(each)
        elif (frame := _FRAME.fullmatch(each)) and frame[1] == answer.file:
            frames.append((int(frame[2]), frame[3]))
    if not frames:
        return "\n".join(kept), []
    number, function = frames[0]
    place = f"{answer.file}:{number}" if function == "<module>" else ""
    place = place or f"{function}, {answer.file}:{number}"
    return "\n".join(kept), line("where", f"{place}    {answer.line(number)}".rstrip())


def printed(text: str) -> list[str]:
    """Returns what an answer printed, the last lines of it, set apart from the grader's words."""
    shown = text.rstrip().splitlines()
    if not shown:
        return []
    kept = shown[-MOST_PRINTED_LINES:]
    more = [f"          ({len(shown) - len(kept)} lines before)"] if len(shown) > len(kept) else []
    first, *rest = [each[:160] for each in kept]
    return [*more, *line("prints", first), *(f"          {each}" for each in rest)]


def _place(puzzle: PythonPuzzle, tried: Tried) -> list[str]:
    return [*case_line(puzzle, tried.case), *call_line(puzzle, tried)]


def _frames(error: Mapping[str, Any]) -> Sequence[tuple[str, int]]:
    out = []
    for frame in error.get("frames") or ():
        if isinstance(frame, list | tuple) and len(frame) == 2 and type(frame[1]) is int:
            out.append((one_line(str(frame[0]))[:80], frame[1]))
    return out[-4:]
