"""Examples of the pictures of lesson 30."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from gpu_course.lessons.plan_my_run.chain import month
from gpu_course.lessons.plan_my_run.pictures import draw_frontier, draw_plan
from gpu_course.lessons.plan_my_run.plans import Plan, Run
from gpu_course.lessons.plan_my_run.shows import draw, frontier, searched
from tests.gpu_course.draw.examples import draws


def _plan(run: Run | None = None, **layout: Any) -> Figure:
    return draw(Plan.of(run or Run.of(), **layout))


@draws(draw_plan)
def one_stage() -> Figure:
    return _plan(tp=1, pp=1, zero=3, recompute="full")


@draws(draw_plan)
def few_stages() -> Figure:
    return _plan(tp=8, pp=4, zero=1)


@draws(draw_plan)
def more_than_fits() -> Figure:
    return _plan(tp=4, pp=32, zero=1, microbatch=2)


@draws(draw_plan)
def experts() -> Figure:
    return _plan(Run.of("Mixtral 8x7B", gpus=256), tp=2, pp=2, ep=8, zero=2)


@draws(draw_plan)
def a_month() -> Figure:
    return draw(month())


@draws(draw_frontier)
def many_layouts() -> Figure:
    return frontier(searched(Run.of()))


@draws(draw_frontier)
def few_layouts() -> Figure:
    return frontier(searched(Run.of("Llama 3 8B", gpus=8, sequences=64)))
