"""What lesson 30 shows: one layout, the best of all, what a run costs, and its export."""

from __future__ import annotations

import bisect
import inspect
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.lessons.plan_my_run import pictures
from gpu_course.lessons.plan_my_run.export import FRAMEWORKS, export
from gpu_course.lessons.plan_my_run.plans import OFF, Plan, Run
from gpu_course.notebook.note import telling
from gpu_course.notebook.pictures import Picture
from gpu_course.planner import search as planner_search
from gpu_course.planner.layout import Layout
from gpu_course.planner.search import Search
from gpu_course.units import GIB

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GPUS = [8, 16, 32, 64, 72, 128, 256, 512, 576, 1024, 2048, 2304, 4096, 8192, 16384]
SEQUENCES = [64, 128, 256, 512, 576, 1024, 1536, 2048, 2304, 4096]
LENGTHS = [2048, 4096, 8192, 16384, 32768, 131072]
"""What the menus of the lesson offer. Some are whole racks of 72."""
DOLLARS = 2.0
"""Of a GPU-hour: what DeepSeek-V3's report assumes for its H800, Table 1."""


def _run_of(
    model: str, machine: str, gpus: int, sequences: int, sequence: int, tokens: float = 1e12
) -> Run:
    """Returns a run by what was chosen from the menus.

    Raises:
        CourseError: the GPUs are no whole nodes of the machine; it names the nearest in the menu.
    """
    run = Run.of(model, machine, gpus, sequences, sequence, tokens)
    node = run.card.node
    if gpus in GPUS and gpus > node and gpus % node:
        whole = [each for each in GPUS if each <= node or each % node == 0]
        near = [*whole[: bisect.bisect(whole, gpus)][-1:], *whole[bisect.bisect(whole, gpus) :][:1]]
        raise CourseError(
            f"{gpus:,} GPUs are no whole nodes of {node}",
            f"choose {' or '.join(f'{each:,}' for each in near)} GPUs",
        )
    return run


def one_plan(
    model: str = "Llama 3 70B",
    machine: str = "H100",
    gpus: int = 1024,
    sequences: int = 1024,
    tokens_of_each: int = 8192,
    tp: int = 8,
    pp: int = 4,
    cp: int = 1,
    zero: int = 1,
    microbatch: int = 1,
    recompute: str = "none",
) -> tuple[Figure, str]:
    """Returns the bars of one layout, and what the planner says of it.

    Args:
        model, machine: keys of MODELS and MACHINES.
        gpus: how many.
        sequences, tokens_of_each: of a step.
        tp, pp, cp, zero, microbatch, recompute: of the layout; dp is what is left.

    Raises:
        CourseError: the layout cannot be; the planner's sentence says why.
    """
    run = _run_of(model, machine, gpus, sequences, tokens_of_each)
    plan = Plan.of(run, tp=tp, pp=pp, cp=cp, zero=zero, microbatch=microbatch, recompute=recompute)
    return draw(plan), said_of(plan)


def draw(plan: Plan) -> Figure:
    """Returns the bars of a plan."""
    stages = [stage.entries for stage in plan.memory.stages]
    return pictures.draw_plan(stages, plan.run.card.memory_bytes, plan.seconds)


@telling
def bars(run: Run, layout: Layout) -> Picture:
    """Returns the same for a layout of a run, as a picture that stands still."""
    return Picture(draw(Plan(run, layout)))


def said_of(plan: Plan) -> str:
    """Returns what the planner says of a layout: what binds, in memory and in time."""
    lines = [str(plan.layout), *_wrapped(plan.memory.says(plan.run.card.memory_bytes))]
    lines += _wrapped(plan.binds())
    # So papers credit it, and a causal mask leaves half of these pairs out.
    credited = f"Each GPU is credited with {plan.tflop_per_s:,.0f} TFLOP/s"
    return "\n".join([*lines, f"{credited}, all pairs of tokens counted."])


def _wrapped(text: str, columns: int = 72) -> list[str]:
    import textwrap

    return textwrap.wrap(text, columns)


@lru_cache(maxsize=16)
def searched(run: Run) -> Search:
    """Returns all legal layouts of a run.

    Args:
        run: what is trained.

    Raises:
        CourseError: none is legal, or none fits.
    """
    return planner_search.search(run.model, run.cluster, run.batch, program=run.program)


def best_plans(
    model: str = "Llama 3 70B",
    machine: str = "H100",
    gpus: int = 1024,
    sequences: int = 1024,
    tokens_of_each: int = 8192,
    trillion_tokens: float = 1.0,
    dollars_per_gpu_hour: float = DOLLARS,
    percent_of_time_training: int = 90,
) -> tuple[Figure, str]:
    """Returns the frontier of all layouts, the ten best, and what the run takes with the best.

    Args:
        model, machine, gpus, sequences, tokens_of_each: as for `one_plan`.
        trillion_tokens: of the whole run.
        dollars_per_gpu_hour: what a GPU costs in an hour.
        percent_of_time_training: what failures leave of it.

    Raises:
        CourseError: none is legal, or none fits; the planner's sentence says why.
    """
    run = _run_of(model, machine, gpus, sequences, tokens_of_each, trillion_tokens * 1e12)
    found = searched(run)
    best = found.best(10)
    plan = Plan(run, best[0].layout)
    said = [table(best), costs(plan, dollars_per_gpu_hour, percent_of_time_training)]
    if best[0].layout.zero == 3:
        said.insert(1, without_zero_3(found))
    return frontier(found), "\n\n".join(said)


def without_zero_3(found: Search) -> str:
    """Returns the fastest plan that gathers no weights, beside ten that do.

    Args:
        found: all layouts.
    """
    begin = "A program that cannot hide what ZeRO 3 gathers is slower than place 1."
    others = found.fits & (found.layouts.zero < 3)
    if not others.any():
        return "\n".join(_wrapped(f"{begin} Without ZeRO 3 nothing fits."))
    plan = found.plan(np.lexsort([found.bytes, np.where(others, found.step_s, np.inf)])[0])
    words = f"{begin} The fastest without ZeRO 3 takes {plan.step_s:.4g} s: {plan.layout}."
    return "\n".join(_wrapped(words))


def frontier(found: Search) -> Figure:
    """Returns the dots of a search, and their frontier."""
    edge = found.frontier()
    memory_bytes = [*found.bytes.tolist(), *(each.bytes for each in edge)]
    step_s = [*found.step_s.tolist(), *(each.step_s for each in edge)]
    count = len(found)
    shown = _thinned(count)
    chosen = [*shown, *range(count, count + len(edge))]
    return pictures.draw_frontier(
        [memory_bytes[n] for n in chosen],
        [step_s[n] for n in chosen],
        found.memory_bytes,
        range(len(shown), len(chosen)),
        count=(count, int(found.fits.sum())),
    )


MOST_DOTS = 800
"""More in one picture are one blot."""


def _thinned(count: int) -> list[int]:
    """Of many layouts some, drawn once and for all: every n-th would have one stage of ZeRO."""
    chosen = np.random.default_rng(30).permutation(count)[:MOST_DOTS]
    return sorted(chosen.tolist())


def table(plans: Sequence[planner_search.Plan]) -> str:
    """Returns plans as a table, the fastest first."""
    lines = ["      dp  tp  pp  cp  ep  ZeRO  micro  chunks  recompute    GiB       s"]
    for place, plan in enumerate(plans, 1):
        layout = plan.layout
        lines.append(
            f"{place:>2}{layout.dp:>6}{layout.tp:>4}{layout.pp:>4}{layout.cp:>4}{layout.ep:>4}"
            f"{layout.zero:>6}{layout.microbatch:>7}{layout.chunks:>8}  {layout.recompute:<9}"
            f"{plan.bytes / GIB:>7.1f}{plan.step_s:>8.4g}"
        )
    return "\n".join(lines)


def costs(plan: Plan, dollars_per_gpu_hour: float = DOLLARS, percent: int = 90) -> str:
    """Returns what a run takes with a plan, each with its spread.

    Args:
        plan: of the run.
        dollars_per_gpu_hour: what a GPU costs in an hour.
        percent: of the time in which it trains.
    """
    part, run = percent / 100, plan.run
    millions = plan.cost(dollars_per_gpu_hour, part).times(1e-6).said("million dollars")
    energy = plan.megawatt_hours(part).said("MWh")
    return "\n".join(
        (
            f"{run.tokens / 1e12:g} T tokens are {run.steps:,} steps of {plan.step_s:.3g} s:",
            f"  time       {plan.days(part).said('days')}",
            f"  GPU-hours  {plan.gpu_hours(part).said()}",
            f"  energy     {energy}: the cards alone, or all around them too",
            f"  cost       {millions}, at {dollars_per_gpu_hour:g} $ an hour",
            f"The planner's step may be {OFF:.0%} off. The cluster trains {percent}% of the time.",
        )
    )


def exported(
    framework: str = "Megatron-LM",
    place: int = 1,
    model: str = "Llama 3 70B",
    machine: str = "H100",
    gpus: int = 1024,
    sequences: int = 1024,
    tokens_of_each: int = 8192,
) -> str:
    """Returns one of the ten best layouts that a framework has options for, as these options.

    Args:
        framework: a key of FRAMEWORKS.
        place: among those that it can do, from 1.
        model, machine, gpus, sequences, tokens_of_each: as for `one_plan`.

    Raises:
        CourseError: no layout that fits is one that it can do.
    """
    run = _run_of(model, machine, gpus, sequences, tokens_of_each)
    left, why = place, None
    found = searched(run)
    order = np.lexsort([found.bytes, found.step_s])
    for index in order[found.fits[order]][:MOST_LOOKED_AT]:
        plan = found.plan(index)
        try:
            written = export(framework, run.model, plan.layout, run.batch, run.steps)
        except CourseError as error:
            why = why or error
            continue
        left -= 1
        if not left:
            made = FRAMEWORKS[framework]
            passed = f"\n# the fastest would be another, but {why.fact}" if why else ""
            return (
                f"# {plan.layout}\n# {plan.bytes / GIB:.1f} GiB, {plan.step_s:.3g} s a step"
                f"{passed}\n# {framework} at {made.commit[:10]}\n{written}"
            )
    raise why or CourseError(f"no plan is in place {place}", "choose a smaller number")


MOST_LOOKED_AT = 2_000
"""Plans that are tried for a framework, the fastest first."""


def refused(**asked: Any) -> str:
    """Returns the planner's sentence on a layout that cannot be, or on a run that fits nowhere.

    Args:
        asked: as for `one_plan` where a layout is named, else as for `best_plans`.
    """
    axes = {"tp", "pp", "cp", "zero", "microbatch", "sequences"}
    ask: Callable[..., Any] = one_plan if axes & set(asked) else best_plans
    known = list(inspect.signature(ask).parameters)
    if odd := [name for name in asked if name not in known]:
        said = f"nothing here is called {odd[0]}: ask for {', '.join(known)}"
        return "\n".join(_wrapped(said))
    try:
        _, said = ask(**asked)
    except CourseError as error:
        lines = [each for part in str(error).split("\n") for each in _wrapped(part.strip())]
        return "\n".join(lines)
    return said


def zero_or_3d(gpus: int = 256, sequences_of_a_gpu: int = 4) -> str:
    """Returns what Llama 3 70B takes with ZeRO 3 alone, and with the best tp and pp instead.

    Args:
        gpus: H100.
        sequences_of_a_gpu: of a step, over the GPUs; the step has as many as both come to.

    Raises:
        CourseError: one of them has no layout.
    """
    run = Run.of(gpus=gpus, sequences=gpus * sequences_of_a_gpu, sequence=2_048)
    found = searched(run)
    layouts, lines = (
        found.layouts,
        ["                      dp  tp  pp  micro  recompute       s  TFLOP/s"],
    )
    cuts = (layouts.tp * layouts.pp > 1) & (layouts.zero < 3) & (layouts.cp == 1)
    alone = (layouts.tp * layouts.pp * layouts.cp == 1) & (layouts.zero == 3)
    for words, which in (("ZeRO 3 alone", alone), ("tensors and stages", cuts)):
        order = np.argsort(np.where(which & found.fits, found.step_s, np.inf))
        if not (which & found.fits)[order[0]]:
            lines.append(f"{words:<20}  nothing fits")
            continue
        plan = Plan(run, found.plan(order[0]).layout)
        layout = plan.layout
        lines.append(
            f"{words:<20}{layout.dp:>4}{layout.tp:>4}{layout.pp:>4}{layout.microbatch:>7}"
            f"  {layout.recompute:<9}{plan.step_s:>8.3g}{plan.tflop_per_s:>9.0f}"
        )
    return "\n".join(lines)
