"""When the simulator and the oracle agree on a case of an answer, and what is excused."""

from __future__ import annotations

import re
from math import prod
from pathlib import Path

from gpu_course.puzzle import Case, KernelPuzzle, index
from simt.report import Hazard
from tests.ptx.course import (
    Answer,
    by_oracle,
    by_simulator,
    differences,
    given_of,
    program,
    started,
)
from tests.ptx.instructions import APPROXIMATE

PUZZLES = [puzzle for puzzle in index.puzzles() if isinstance(puzzle, KernelPuzzle)]

ROUNDINGS = 1e-4
"""How far fused products and approximations may lie off, of the largest number of an array."""

AS_PTX: dict[str, str] = {
    "01_threads/guard only_the_write_is_guarded": "NVVM loads behind the guard of the store",
    "04_shared_memory/fix_the_barrier a_barrier_for_those_left_over": (
        "PTX does not tell one barrier of a block from another: all threads come to one"
    ),
    "07_under_the_hood/keep_it_in_registers adds_places_that_are_empty": (
        "NVVM takes a place of a local array that nothing was put into for whatever suits it"
    ),
    "05_reductions_and_scans/scan_lookback no_barrier_after_the_ticket": (
        "a ticket that is read too early is a wild index here, before it comes to a race"
    ),
}
"""Mistakes whose hazard PTX does not have, and why."""

IN_ANY_ORDER: dict[str, float | None] = {
    "05_reductions_and_scans/scan_lookback counts_twice": None,
    "05_reductions_and_scans/scan_lookback numbers_for_their_bits, "
    "more tiles than a warp has lanes were held up": None,
    "05_reductions_and_scans/deterministic_sum blocks_add_as_they_come": ROUNDINGS,
    "05_reductions_and_scans/segmented_sum one_thread_of_each_block": ROUNDINGS,
}
"""Mistakes, in all cases or in one, whose result depends on the order of blocks: how far it may.

None is any way. A look-back that is told something wrong finds it nearby or far away.
"""


FUSED: dict[str, float | None] = {
    "07_under_the_hood/no_float64 squares_in_one_pass, far from zero": None,
    "13_softmax_to_flash/flash_backward, one query and one key": None,
    "13_softmax_to_flash/flash_backward, scores far below 0": 1e-2,
    "13_softmax_to_flash/flash_backward dq_without_lse, large scores": None,
    "13_softmax_to_flash/flash_backward dkv_without_lse, large scores": None,
    "13_softmax_to_flash/flash_backward dkv_scores_not_scaled, large scores": None,
}
"""Mistakes, or all answers of a puzzle, in a case, and how far fused products may lie off there.

What cancels leaves only what was rounded, which is another rest where products are fused; and where
an exponential overflows, one infinity more may meet another. None is any way.
"""


_OUTSIDE = re.compile(r"\w+: \w+\[([-\d, ]+)\] is outside an array of shape \(([\d, ]+)\)")


def hold(answer: Answer, case: Case, keep: Path) -> None:
    """Holds one case of an answer, in both forms, against the simulator.

    Without fused products the bits are the same, but where an instruction only approximates. As
    shipped the numbers are the same within a few roundings. Where the simulator finds a hazard,
    there is no value to compare, and the oracle finds it too.

    Raises:
        AssertionError: they do not agree.
    """
    given = given_of(answer.puzzle, case, 0)
    ours = started(given)
    hazards = by_simulator(answer, given, ours)
    kinds = {hazard.kind for hazard in hazards}
    if "endless-loop" in kinds:
        return
    if hazards:
        found = by_oracle(answer, given, started(given), "unfused", keep, watched=True)
        if answer.name not in AS_PTX and not any(map(inside_as_ptx, hazards)):
            assert found & kinds, f"{case.name}: {kinds} in the simulator, {found} as PTX"
        return
    names = {each.function for each in given.launches}
    opcodes = set().union(
        *(program(answer, given, name, "unfused", keep).kernel.opcodes() for name in names)
    )
    known = {answer.name, f"{answer.name}, {case.name}"} & set(IN_ANY_ORDER)
    open_ = bool(known) or any(map(APPROXIMATE.match, opcodes))
    within = IN_ANY_ORDER[known.pop()] if known else ROUNDINGS
    fused = within
    for name in (answer.puzzle.name, answer.name):
        fused = FUSED.get(f"{name}, {case.name}", fused)
    for form, any_way, tolerance in (
        ("unfused", within is None, within if open_ else None),
        ("shipped", fused is None, fused),
    ):
        theirs = started(given)
        assert by_oracle(answer, given, theirs, form, keep) == set()
        if not any_way:
            assert differences(ours, theirs, tolerance) == [], f"{case.name}, {form}"


def inside_as_ptx(hazard: Hazard) -> bool:
    """True for an index outside its row, or below zero, that PTX takes for a cell of the array.

    Numba takes a negative index from the end, and works out one address: past the end of a row
    lies the next one. So there is nothing to see in PTX.
    """
    found = _OUTSIDE.match(hazard.message)
    if found is None:
        return False
    index, shape = ([int(n) for n in re.findall(r"-?\d+", part)] for part in found.groups())
    flat = 0
    for each, size in zip(index, shape, strict=True):
        flat = flat * size + (each + size if each < 0 else each)
    return 0 <= flat < prod(shape)
