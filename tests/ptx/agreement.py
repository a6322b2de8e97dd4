"""When the simulator and the oracle agree on a case of an answer, and what is excused."""

from __future__ import annotations

from pathlib import Path

from gpu_course.puzzle import Case, KernelPuzzle, index
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

FROM_THE_END = "Numba takes a negative index from the end, and so does its PTX: nothing is outside"
OTHER_ROW = "past the end of a row lies the next row: inside the array, as PTX sees it"
AS_PTX: dict[str, str] = {
    "01_threads/gather counted_from_the_end": FROM_THE_END,
    "01_threads/gather forgot_to_wrap": FROM_THE_END,
    "01_threads/gather wrapped_the_shift_only": FROM_THE_END,
    "01_threads/gather wrapped_once": FROM_THE_END,
    "01_threads/guard only_the_write_is_guarded": "NVVM loads behind the guard of the store",
    "03_coalescing/soa_from_aos indices_not_exchanged": OTHER_ROW,
    "03_coalescing/transpose_naive indices_not_exchanged": OTHER_ROW,
    "04_shared_memory/fix_the_barrier a_barrier_for_those_left_over": (
        "PTX does not tell one barrier of a block from another: all threads come to one"
    ),
    "04_shared_memory/pooling window_past_the_start": FROM_THE_END,
    "05_reductions_and_scans/scan_grid before_the_first_tile": FROM_THE_END,
    "05_reductions_and_scans/scan_lookback no_barrier_after_the_ticket": (
        "a ticket that is read too early is a wild index here, before it comes to a race"
    ),
    "06_matmul/batched_matmul keys_not_turned": OTHER_ROW,
}
"""Mistakes whose hazard is none in PTX, and why."""

IN_ANY_ORDER: dict[str, float | None] = {
    "05_reductions_and_scans/scan_lookback counts_twice": None,
    "05_reductions_and_scans/deterministic_sum blocks_add_as_they_come": ROUNDINGS,
}
"""Mistakes without a hazard whose result depends on which block comes first: how far it may."""


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
    if "endless-loop" in hazards:
        return
    if hazards:
        found = by_oracle(answer, given, started(given), "unfused", keep, watched=True)
        if answer.name not in AS_PTX:
            assert found & hazards, f"{case.name}: {hazards} in the simulator, {found} as PTX"
        return
    names = {each.function for each in given.launches}
    opcodes = set().union(
        *(program(answer, given, name, "unfused", keep).kernel.opcodes() for name in names)
    )
    open_ = answer.name in IN_ANY_ORDER or any(map(APPROXIMATE.match, opcodes))
    within = IN_ANY_ORDER.get(answer.name, ROUNDINGS)
    for form, tolerance in (("unfused", within if open_ else None), ("shipped", within)):
        theirs = started(given)
        assert by_oracle(answer, given, theirs, form, keep) == set()
        if within is not None:
            assert differences(ours, theirs, tolerance) == [], f"{case.name}, {form}"
