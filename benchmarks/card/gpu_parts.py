"""What `make gpu` runs on a GPU, part by part; each item is a job for a process of its own.

`parts()` says what there is; `run(job)` does one item, in the child.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.card import nsight, nsight_solutions
from gpu_course.errors import CourseError
from gpu_course.grading.card import bench, targets
from gpu_course.grading.diagnoses.patterns import close
from gpu_course.grading.kernel.trial import attempt, poison, prepare
from gpu_course.hardware.guard_zones import WriteOutside
from gpu_course.hardware.run import GaveUp, run_natively
from gpu_course.puzzle import KernelPuzzle, Launch, index
from simt.kernel import source
from simt.machine.schedule import Ranked
from simt.simulator import simulate

TARGET = "benchmarks.card.gpu_parts:run"
SOLUTIONS = Path(__file__).parents[2] / "solutions"
TIMES = 3
"""How often a faulty kernel runs: luck differs from run to run."""
DRAWN_FROM_STRATEGIES, EXAMPLES = 4, 12
ORDERED, IN_ONE_ITEM = 240, 40
COUNTERS_S = 90.0
FAULT_S, HANG_S = 20.0, 6.0
STEPS = 40_000


@dataclass(frozen=True)
class Item:
    """One thing that is measured.

    Attributes:
        name: its key in the record.
        job: what the child is told.
        deadline_s: when it is ended.
        right: the states that say it is as it should be; none where whatever comes is a finding.
        target: who does it, "module:function".
    """

    name: str
    job: Mapping[str, Any]
    deadline_s: float
    right: tuple[str, ...] = ()
    target: str = TARGET


@dataclass(frozen=True)
class Part:
    """One part of the run, and one file of the record.

    Attributes:
        name: the file's name.
        about: what it shows, in a few words.
        until_s: seconds after the start of the run at which no further item of it begins.
        items: in order.
    """

    name: str
    about: str
    until_s: float
    items: tuple[Item, ...]


def parts() -> tuple[Part, ...]:
    """Returns the parts in order of worth; what may hang the card comes last."""
    from tests.gpu.kernels import FAULTS, KERNELS, WAITING_WITHIN_A_WARP

    kernels = [puzzle for puzzle in index.puzzles() if isinstance(puzzle, KernelPuzzle)]
    twins = [name for name in KERNELS if name.startswith("twin: ")]
    agrees = ("agrees",)
    return (
        Part(
            "solutions",
            "every solution against its reference, between guard zones",
            150,
            tuple(
                Item(p.name, {"kind": "solution", "puzzle": p.name}, 60, ("right",))
                for p in kernels
            ),
        ),
        Part(
            "faults",
            "kernels without a fault, and what a GPU does with planted ones",
            230,
            (
                *(Item(name, {"kind": "kernel", "name": name}, FAULT_S, agrees) for name in twins),
                *(
                    Item(name, {"kind": "fault", "name": name}, FAULT_S)
                    for name, fault in FAULTS.items()
                    if not fault.may_hang
                ),
            ),
        ),
        Part(
            "kernels",
            "the simulator's results against the GPU's",
            380,
            (
                *(
                    Item(name, {"kind": "kernel", "name": name}, FAULT_S, agrees)
                    for name in KERNELS
                    if name not in twins
                ),
                *(
                    Item(f"random kernels {k}", {"kind": "random", "seed": k}, 60, agrees)
                    for k in range(DRAWN_FROM_STRATEGIES)
                ),
                *(
                    Item(
                        f"random kernels with an order {first} to {first + IN_ONE_ITEM - 1}",
                        {"kind": "ordered", "first": first, "count": IN_ONE_ITEM},
                        60,
                        ("agrees", "not-compared"),
                    )
                    for first in range(0, ORDERED, IN_ONE_ITEM)
                ),
            ),
        ),
        Part(
            "counters",
            "Nsight Compute's counters beside the simulator's",
            450,
            (
                Item("ncu", {"kind": "counters"}, COUNTERS_S + 15, ("counted", "left-out")),
                Item(
                    "ncu of the solutions",
                    {"kind": "sectors"},
                    COUNTERS_S + 15,
                    ("counted", "left-out"),
                ),
            ),
        ),
        Part(
            "timings",
            "each solution at a size past L2, beside a large copy",
            560,
            (
                Item("copy", {"kind": "copy"}, 60, ("timed",), bench.TARGET),
                Item("matmul", {"kind": "matmul"}, 60, ("timed", "left-out"), bench.TARGET),
                *(
                    Item(
                        p.name,
                        {"kind": "answer", "puzzle": p.name, "path": str(solution(p.name))},
                        bench.ANSWER_S,
                        ("timed", "one-size"),
                        bench.TARGET,
                    )
                    for p in sorted(kernels, key=lambda p: targets.kind_of(p.name) is None)
                ),
                *(
                    Item(
                        f"PyTorch: {name}",
                        {"kind": "library", "name": name},
                        60,
                        ("timed", "left-out"),
                    )
                    for name in LIBRARY
                ),
            ),
        ),
        Part(
            "hangs",
            "kernels that may wait for ever: what a GPU does with them",
            585,
            tuple(
                Item(name, {"kind": "fault", "name": name}, HANG_S)
                for name in (
                    *WAITING_WITHIN_A_WARP,
                    *(name for name, fault in FAULTS.items() if fault.may_hang),
                )
            ),
        ),
    )


def solution(name: str) -> Path:
    """Returns the file of a puzzle's solution."""
    return SOLUTIONS / f"{name}.py"


def run(job: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what one item found, with its "state"."""
    return _KINDS[job["kind"]](job)


def run_solution(job: Mapping[str, Any]) -> dict[str, Any]:
    """Every case of a puzzle and a drawn one, twice: two poisons, one result."""
    puzzle = index.find(job["puzzle"])
    assert isinstance(puzzle, KernelPuzzle)
    path = solution(puzzle.name)
    module = source.load(path)
    kernels = {name: module.kernel(name) for name in puzzle.functions}
    cases = (*puzzle.cases, puzzle.random_case(np.random.default_rng(0)))
    note = ""
    for case in cases:
        given = prepare(puzzle, case, seed=0)
        try:
            simulated = attempt(given, kernels, 0).got
        except CourseError as error:  # greenlet is missing; the reference is still there
            simulated, note = {}, error.fact
        for order in (0, 1):
            poisoned = {
                name: poison(array, order)
                for name, array in given.outputs.items()
                if name not in given.inputs
            }
            native = run_natively(path, given.launches, {**given.inputs, **poisoned})
            for name, expected in given.expected.items():
                for what, wanted in (("reference", expected), ("simulator", simulated.get(name))):
                    if wanted is None:
                        continue
                    wrong = ~close(native[name], wanted, given.tolerances[name])
                    if wrong.any():
                        return _differs("wrong", case.name, name, native[name], wanted, wrong, what)
            for name, before in given.inputs.items():
                kept = name not in native or name in given.outputs
                if not kept and not np.array_equal(native[name], before, equal_nan=True):
                    return {"state": "wrong", "said": f"{case.name}: {name} is changed"}
    return {"state": "right", "cases": len(cases), **({"note": note} if note else {})}


def _differs(
    state: str, case: str, name: str, got: np.ndarray, wanted: Any, wrong: np.ndarray, what: str
) -> dict[str, Any]:
    first = tuple(int(k) for k in np.argwhere(wrong)[0])
    cell = f"{name}[{', '.join(map(str, first))}]"
    return {
        "state": state,
        "said": f"{case}: {cell} is {got[first]} on the GPU and {np.asarray(wanted)[first]} in the "
        f"{what}; {int(wrong.sum())} of {wrong.size} cells differ",
    }


def _launched(kernel: Any, seed: int = 7) -> tuple[Launch, dict[str, Any]]:
    values = kernel.values(np.random.default_rng(seed))
    return Launch("kernel", kernel.grid, kernel.block, tuple(values)), values


def _simulated(path: Path, launch: Launch, values: Mapping[str, Any], **how: Any) -> Any:
    """Returns what a launch leaves in its arrays in the simulator, and its report."""
    copies = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in values.items()}
    report = simulate(f"{path}:kernel", step_budget=STEPS, **how)[launch.grid, launch.block](
        *copies.values()
    )
    return copies, report


def run_kernel(job: Mapping[str, Any]) -> dict[str, Any]:
    """A kernel without a fault: the GPU leaves what the simulator leaves."""
    from tests.gpu.kernels import KERNELS
    from tests.simt import waiting_kernels as waiting

    name = job["name"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.py"
        path.write_text(KERNELS[name].text, encoding="utf-8")
        launch, values = _launched(KERNELS[name])
        native = run_natively(path, (launch,), values)
        known = waiting.RIGHT.get(name.partition(": ")[2]) if name.startswith("waiting: ") else None
        if known is not None:
            expected = np.asarray(known.expected)
            wrong = native["out"][: expected.size] != expected
            if wrong.any():
                return _differs("differs", name, "out", native["out"], expected, wrong, "proof")
        try:
            simulated, report = _simulated(path, launch, values)
        except CourseError as error:
            if known is not None:  # greenlet is missing; what it comes to is known without
                return {"state": "agrees", "note": error.fact}
            raise
        if not report.ok:
            return {"state": "hazard", "said": str(report.hazards[0].message)}
        return _compare(name, native, simulated, KERNELS[name].rtol)


def _compare(
    name: str, native: Mapping[str, np.ndarray], simulated: Mapping[str, Any], rtol: float
) -> dict[str, Any]:
    for array, got in native.items():
        wrong = ~np.isclose(got, simulated[array], rtol=rtol, atol=0, equal_nan=True)
        if wrong.any():
            return _differs("differs", name, array, got, simulated[array], wrong, "simulator")
    return {"state": "agrees"}


def run_random(job: Mapping[str, Any]) -> dict[str, Any]:
    """Random kernels of expressions, branches and loops: the GPU leaves what the simulator does."""
    from hypothesis import Phase, given, seed, settings
    from hypothesis import strategies as st

    from tests.gpu.kernels import random_kernel
    from tests.simt.test_interpreter import _blocks

    count = 0

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.py"

        @seed(job["seed"])
        @settings(max_examples=EXAMPLES, deadline=None, database=None, phases=(Phase.generate,))
        @given(body=_blocks, data=st.integers(0, 2**16))
        def agree(body: str, data: int) -> None:
            nonlocal count
            kernel = random_kernel(body, data)
            path.write_text(kernel.text, encoding="utf-8")
            launch, values = _launched(kernel)
            simulated, _ = _simulated(path, launch, values)
            found = _compare(kernel.text, run_natively(path, (launch,), values), simulated, 0)
            assert found["state"] == "agrees", found["said"]
            count += 1

        try:
            agree()
        except AssertionError as error:
            return {"state": "differs", "said": str(error)}
    return {"state": "agrees", "kernels": count}


def run_ordered(job: Mapping[str, Any]) -> dict[str, Any]:
    """Random kernels with barriers, fences and flags, those of one result: the GPU's is it too."""
    from tests.simt.observe.random_kernels import FLAGS, GLOBAL, draw

    compared = 0
    for seed in range(job["first"], job["first"] + job["count"]):
        drawn = draw(seed)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kernel.py"
            path.write_text(drawn.text, encoding="utf-8")
            values = {"g": np.zeros(GLOBAL, np.int64), "f": np.zeros(FLAGS, np.int64)}
            launch = Launch("kernel", drawn.grid, drawn.block, tuple(values))
            orders = ({}, {"order_seed": 1}, *({"schedule": Ranked(seed=k)} for k in range(3)))
            try:
                runs = [_simulated(path, launch, values, **how) for how in orders]
            except CourseError as error:
                return {"state": "not-compared", "said": error.fact}
            first = runs[0][0]
            if not all(report.ok for _, report in runs) or any(
                not np.array_equal(found[name], first[name]) for found, _ in runs for name in values
            ):
                continue  # it has a race, or the order may tell: any result is right
            found = _compare(f"seed {seed}", run_natively(path, (launch,), values), first, 0)
            if found["state"] != "agrees":
                return found
            compared += 1
    return {"state": "agrees", "kernels": compared, "drawn": job["count"]}


def run_fault(job: Mapping[str, Any]) -> dict[str, Any]:
    """A kernel with a planted fault: what the GPU leaves, several times over."""
    from tests.gpu.kernels import FAULTS, WAITING_WITHIN_A_WARP

    fault = {**FAULTS, **WAITING_WITHIN_A_WARP}[job["name"]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.py"
        path.write_text(fault.text, encoding="utf-8")
        launch, values = _launched(fault)
        runs, outside = [], ""
        try:
            for _ in range(TIMES):
                runs.append(run_natively(path, (launch,), values))
        except WriteOutside as error:
            outside = error.fact
        except GaveUp:
            raise
        except Exception as error:  # the compiler's refusal, in whichever class
            words = " ".join(f"{type(error).__name__}: {error}".split())
            return {"state": "refused", "kinds": sorted(fault.kinds), "said": words[:400]}
        try:
            simulated, _ = _simulated(path, launch, values)
        except CourseError:
            simulated = None
    same = all(np.array_equal(a[n], runs[0][n], equal_nan=True) for a in runs for n in a)
    as_simulated = None
    if runs and simulated is not None:
        as_simulated = all(
            np.array_equal(runs[0][name], simulated[name], equal_nan=True) for name in runs[0]
        )
    return {
        "state": "wrote-outside" if outside else "ran",
        "kinds": sorted(fault.kinds),
        **({"said": outside} if outside else {}),
        **({"same_each_time": same, "as_simulated": as_simulated} if runs else {}),
    }


def run_counters(_: Mapping[str, Any]) -> dict[str, Any]:
    """The counters of both sides, kernel by kernel."""
    ncu = nsight.find_ncu()
    if ncu is None:
        return {"state": "left-out", "said": nsight.NO_NCU}
    try:
        found = nsight.both(ncu, COUNTERS_S)
    except nsight.NoCounters as error:
        return {"state": "left-out", "said": f"Nsight Compute gave no counters: {error}"}
    return {
        "state": "counted",
        "ncu": nsight.ncu_version(ncu),
        "metrics": nsight.METRICS,
        "items": {name: {"state": "counted", **counts} for name, counts in found.items()},
    }


def run_sectors(_: Mapping[str, Any]) -> dict[str, Any]:
    """The sectors of each solution's visible example on both sides, launch by launch."""
    ncu = nsight.find_ncu()
    if ncu is None:
        return {"state": "left-out", "said": nsight.NO_NCU}
    try:
        found = nsight_solutions.compare(ncu, (), COUNTERS_S)
    except nsight.NoCounters as error:
        return {"state": "left-out", "said": f"Nsight Compute gave no counters: {error}"}
    items = {
        each.launch: {"state": each.state, "simulator": each.simulator, "gpu": each.gpu}
        for each in found
    }
    return {"state": "counted", "ncu": nsight.ncu_version(ncu), "items": items}


def _torch_copy(torch: Any, count: int) -> tuple[Any, int]:
    a = torch.ones(count, device="cuda")
    out = torch.empty_like(a)
    return lambda: out.copy_(a), 8 * count


def _torch_sum(torch: Any, count: int) -> tuple[Any, int]:
    a = torch.ones(2 * count, device="cuda")
    return a.sum, 8 * count


LIBRARY = {"copy": _torch_copy, "sum": _torch_sum}
"""What a library reaches, beside the solutions: name -> (torch, cells) -> work, bytes."""


def run_library(job: Mapping[str, Any]) -> dict[str, Any]:
    """PyTorch's own kernel, timed by the same clock."""
    try:
        import torch
    except ModuleNotFoundError as error:
        return {"state": "left-out", "said": f"{error.name} is not installed"}
    if not torch.cuda.is_available():
        return {"state": "left-out", "said": "this build of PyTorch uses no GPU"}
    clock = _clock()
    work, least_bytes = LIBRARY[job["name"]](torch, clock.copy_bytes // 4)
    sample = clock.sample(work)
    return {"state": "timed", **vars(sample), "least_bytes": least_bytes}


@lru_cache(1)
def _clock() -> bench.Clock:
    return bench.Clock(bench.bytes_past_l2(bench.describe_device()["l2_bytes"]) // 2)


_KINDS = {
    "solution": run_solution,
    "kernel": run_kernel,
    "fault": run_fault,
    "random": run_random,
    "ordered": run_ordered,
    "counters": run_counters,
    "sectors": run_sectors,
    "library": run_library,
}
