"""What the stubs of lessons 16 to 20 and two others promise of their input, and what holds it.

A promise is a few words of the docstring and what an input is like that holds them. Some hold
because there is such a case, others because every case and every drawn one is like that.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_course.puzzle import PythonPuzzle
from gpu_course.lessons.optimal_checkpointing import rotor_chains
from gpu_course.puzzle.specification import Case, Values
from tests.course.puzzles.by_hand import SOLUTIONS

LESSONS = ("16", "17", "18", "19", "20")
"""Every Python puzzle of these has to be in PROMISES."""


@dataclass(frozen=True)
class Promise:
    """Words of a docstring, and whether an input of a case holds them.

    Attributes:
        words: as they stand there, with single spaces.
        held: whether an input is of that kind.
        everywhere: True where each input has to be; else one is enough.
        by: for a promise that only the whole puzzle can tell: whether a case takes another answer.
    """

    words: str
    held: Callable[[Values], bool] | None = None
    everywhere: bool = False
    by: Callable[[PythonPuzzle, Case, Values], bool] | None = None

    def holds(self, puzzle: PythonPuzzle, case: Case) -> bool:
        """Whether the input of a case is of the kind that is promised."""
        given = puzzle.inputs(np.random.default_rng(1), case)
        return self.held(given) if self.held else bool(self.by and self.by(puzzle, case, given))


def docstring(puzzle: PythonPuzzle) -> str:
    """Returns what a stub says above the answer, with single spaces."""
    text = (SOLUTIONS / f"{puzzle.name}.py").read_text(encoding="utf-8")
    return " ".join((ast.get_docstring(ast.parse(text)) or "").split())


def broken(puzzle: PythonPuzzle, said: str, fixed: Sequence[Case], drawn: Sequence[Case]) -> set:
    """Returns the words of all promises that a docstring does not say, or that no case holds."""
    found = set()
    for promise in PROMISES[puzzle.short_name]:
        if promise.everywhere:
            held = all(promise.holds(puzzle, case) for case in (*fixed, *drawn))
        else:
            held = any(promise.holds(puzzle, case) for case in fixed)
        if not held or promise.words not in said:
            found.add(promise.words)
    return found


def _everywhere(words: str, held: Callable[[Values], bool]) -> Promise:
    return Promise(words, held, everywhere=True)


def _finite(*names: str) -> Callable[[Values], bool]:
    return lambda given: all(bool(np.isfinite(given[name]).all()) for name in names)


def _sampled(given: Values) -> Any:
    from gpu_course.lessons.memory_ledger.samples import sample

    return sample(**given)


def _batch_is_finite(given: Values) -> bool:
    from gpu_course.lessons.checkpointing.recompute import smooth_chain

    return bool(smooth_chain(given["blocks"], given["width"], given["seed"])[1].isfinite().all())


def _loss_is_finite(given: Values) -> bool:
    from gpu_course.lessons.forward_gradients.problem import build

    loss, point = build(given)
    return bool(point.isfinite().all()) and bool(loss(point).isfinite())


def _is_followed(given: Values) -> bool:
    from gpu_course.measure.schedules.operations import account
    from gpu_course.measure.schedules.written import read

    account(rotor_chains.chain_of(given["stages"]), read(given["schedule"]))
    return True


def _sizes(given: Values) -> list[int]:
    return [number for stage in given["stages"] for number in stage.values()]


def _fits(given: Values) -> bool:
    from gpu_course.lessons.optimal_checkpointing.dynamic_program import solve

    stages, memory = given.get("arguments") or (given["stages"], given["memory"])
    return bool(np.isfinite(solve(rotor_chains.chain_of(stages), memory).best_cost()))


def _takes_another_schedule(puzzle: PythonPuzzle, case: Case, given: Values) -> bool:
    """Whether a schedule that runs on from the batch, instead of keeping it, is as good.

    The batch is always there, so that is the same plan in other words.
    """
    assert puzzle.follow is not None and puzzle.judge is not None
    scope: dict[str, Any] = {}
    exec((SOLUTIONS / f"{puzzle.name}.py").read_text(encoding="utf-8"), scope)
    schedule = scope[puzzle.short_name](*given["arguments"])
    if schedule[0] != ("keep input", 0):
        return False
    both = (schedule, [("forward", 0), *schedule[1:]])
    return all(
        puzzle.judge(given, case, puzzle.follow(given, case, {"schedule": each})) is None
        for each in both
    )


def _has_equally_good_choices(given: Values) -> bool:
    products, budget = given["products"], given["budget"]
    worth = []
    for size in range(len(products) + 1):
        for chosen in itertools.combinations(products, size):
            if sum(product["bytes"] for product in chosen) <= budget:
                worth.append(sum(product["flops"] for product in chosen))
    return worth.count(max(worth)) > 1


def _is_zero_or_small(given: Values, least: float, most: float) -> bool:
    sizes = np.abs(given["gradients"])
    lines = (sizes.max(axis=(0, 1)), sizes.max(axis=(0, 2)))
    return any(bool(((least <= line) & (line <= most)).any()) for line in lines)


def _one_of(name: str, value: Any) -> Callable[[Values], bool]:
    return lambda given: bool(given.get(name) == value)


ANY_WITHIN = Promise("Any schedule within these bounds will do.", by=_takes_another_schedule)
LENGTHS = (
    _everywhere("1 or more", lambda given: given["arguments"][0] >= 1),
    Promise("1 or more", lambda given: given["arguments"][0] == 1),
)
ONE_STAGE = Promise("one stage or more", lambda given: len(given["stages"]) == 1)
SIZES = (
    _everywhere("whole numbers, 0 or more", lambda given: min(_sizes(given)) >= 0),
    Promise("whole numbers, 0 or more", lambda given: min(_sizes(given)) == 0),
)

PROMISES: dict[str, tuple[Promise, ...]] = {
    "occupancy": (
        Promise("of one thread; 1 to 255", _one_of("registers", 1)),
        Promise("of one thread; 1 to 255", _one_of("registers", 255)),
        Promise("in one block; 1 to 1024", _one_of("threads", 1)),
        Promise("in one block; 1 to 1024", _one_of("threads", 1024)),
        Promise("of one block; may be 0", _one_of("shared_bytes", 0)),
        # All of these have four quarters, warps of 32 threads and units of 256 registers.
        _everywhere(
            "those of compute capabilities 7.0 to 12.0",
            lambda given: (
                [given["limits"][n] for n in ("quarters", "warp_size", "register_unit")]
                == [4, 32, 256]
            ),
        ),
    ),
    "sectors": (
        Promise("may be 0 or negative", lambda given: given["stride"] == 0),
        Promise("may be 0 or negative", lambda given: given["stride"] < 0),
        Promise("or beyond 32 bits", lambda given: given["stride"] >= 1 << 32),
        Promise("may be beyond 32 bits, too", lambda given: given["offset"] >= 1 << 32),
        _everywhere(
            "no lane reads before the array",
            lambda given: min(given["offset"], given["offset"] + 31 * given["stride"]) >= 0,
        ),
        *(
            Promise("1, 2, 4, 8 or 16", lambda given, size=size: given["itemsize"] == size)
            for size in (1, 2, 4, 8, 16)
        ),
    ),
    "adam_bytes": (
        Promise("() is one number", lambda given: () in given["shapes"]),
        Promise("a side of 0 leaves none", lambda given: any(0 in s for s in given["shapes"])),
    ),
    "ledger": (
        Promise("of one row or more", _one_of("rows", 1)),
        Promise("whole numbers", lambda given: not _sampled(given)[1].is_floating_point()),
        Promise("A layer may have none", lambda given: not list(_sampled(given)[0].parameters())),
    ),
    "explain_the_gap": (
        _everywhere("each 1 or more", lambda given: min(given.values()) >= 1),
        Promise("each 1 or more", lambda given: sorted(given.values())[:4] == [1] * 4),
        _everywhere("heads divides hidden", lambda given: given["hidden"] % given["heads"] == 0),
    ),
    "accumulate": (
        Promise("from 1 to as many", _one_of("parts", 1)),
        Promise("as there are rows", lambda given: given["parts"] == given["rows"]),
        Promise("need not divide them", lambda given: bool(given["rows"] % given["parts"])),
    ),
    "checkpoint": (
        _everywhere("a float32 tensor of finite numbers", _batch_is_finite),
        Promise("one stage in two places", _one_of("again", 1)),
        Promise("a .grad need not begin at 0", _one_of("begun", 1)),
    ),
    "rng_safe": (
        Promise("Autocast may take bfloat16", _one_of("autocast", 1)),
        Promise("or float16", _one_of("half", 1)),
    ),
    "sqrt_plan": (
        *LENGTHS,
        Promise("need not be a square", lambda given: given["arguments"][0] == 10),
        ANY_WITHIN,
    ),
    "log_plan": (
        *LENGTHS,
        Promise("need not be a power of 2", lambda given: given["arguments"][0] == 13),
        ANY_WITHIN,
    ),
    "revolve": (
        *LENGTHS,
        Promise("even more than stages", lambda given: given["arguments"][1] > given["stages"]),
        Promise("among them; 1 or more", lambda given: given["arguments"][1] == 1),
        Promise("any of them will do", by=_takes_another_schedule),
    ),
    "schedule_peak": (
        ONE_STAGE,
        *SIZES,
        _everywhere("that can be followed to its end", _is_followed),
    ),
    "best_cost": (
        _everywhere("1 or more", lambda given: given["memory"] >= 1),
        Promise("too little for any schedule", lambda given: not _fits(given)),
    ),
    "rotor": (
        ONE_STAGE,
        *SIZES,
        _everywhere("some schedule fits", _fits),
        Promise("equally cheap, any will do", by=_takes_another_schedule),
    ),
    "selective_plan": (
        Promise("from 0 to", _one_of("budget", 0)),
        Promise(
            "to more than enough",
            lambda given: sum(p["bytes"] for p in given["products"]) <= given["budget"],
        ),
        Promise(
            "an empty list where none fits",
            lambda given: min(p["bytes"] for p in given["products"]) > given["budget"],
        ),
        Promise("any where several are equally good", _has_equally_good_choices),
    ),
    "forward_gradient": (
        _everywhere("(d,), finite, as the loss is", _loss_is_finite),
        _everywhere("(d,), finite: the direction to take", _finite("v")),
    ),
    "variance_law": (
        _everywhere("finite floats", _finite("gradient")),
        Promise("any of them 0", lambda given: 0.0 in given["gradient"]),
        Promise("d is 1 or more", lambda given: len(given["gradient"]) == 1),
    ),
    "k_directions": (
        Promise("k is from 1 to d", lambda given: len(given["normals"]) == 1),
        Promise(
            "k is from 1 to d", lambda given: given["normals"].shape[0] == given["normals"].shape[1]
        ),
    ),
    "galore_project": (
        _everywhere("float64 (rows, columns), finite", _finite("gradient")),
        Promise("from 1 to", _one_of("rank", 1)),
        Promise("shorter side has", lambda given: given["rank"] == min(given["gradient"].shape)),
    ),
    "galore_adam": (
        _everywhere("float64 (rows, columns), finite", _finite("gradients")),
        Promise("may be 0 throughout", lambda given: _is_zero_or_small(given, 0.0, 0.0)),
        Promise("as small as epsilon", lambda given: _is_zero_or_small(given, 1e-10, 1e-7)),
    ),
    "lora": (
        _everywhere("all of it finite", _finite("weight", "bias")),
        _everywhere("(rows, in), finite", _finite("x")),
        Promise("of one row or more", lambda given: len(given["x"]) == 1),
        Promise("of the detour: 1 or more", lambda given: len(given["a"]) == 1),
        _everywhere("above 0", lambda given: given["alpha"] > 0),
    ),
    "block_quantise_state": (
        _everywhere("finite, n 1 or more", _finite("values")),
        Promise("may have fewer", lambda given: bool(len(given["values"]) % given["block"])),
        Promise("0.0 or -0.0", lambda given: bool((given["values"] == 0).any())),
        Promise(
            "be it 1e-37",
            lambda given: bool(((v := np.abs(given["values"])) > 0).any() and v.max() < 1e-30),
        ),
    ),
    "shared_layers": (
        Promise("is to have: 1 or more", _one_of("layers", 1)),
        _everywhere("finite numbers to finite numbers", _finite("x")),
    ),
}
