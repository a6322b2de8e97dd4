"""The plan of a run of your own, graded by a program: what it says is held against the planner.

    print(rubric())                        # what is asked of a plan
    plan = draft()                         # a dict; fill in what is None, change what you like
    graded(plan)                           # which criteria are met, and what to try for the others
    exported(plan, "my_plan.html")         # a page that stands alone; `plan_in` reads it back

or, for a plan in a TOML file, `python -m gpu_course.lessons.across_oceans.capstone my_plan.toml`.

A criterion is a function from the plan to what was found, `met` or not. What a criterion needs and
the plan does not say, or says in a way that cannot be, is `Unsaid`: the criterion waits for it.
"""

from __future__ import annotations

import copy
import functools
import math
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.lessons.across_oceans.plan_parts import (
    PARTS,
    SOURCE_WORDS,
    SOURCED,
    Finding,
    Grade,
    source_kind,
)
from gpu_course.measure.state_formulas import MEGATRON_ADAM
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.notebook.note import telling
from gpu_course.planner.cluster import Cluster
from gpu_course.planner.goodput import useful_share
from gpu_course.planner.layout import Batch, Layout, broken_rules
from gpu_course.planner.machines import machine
from gpu_course.planner.memory import MEGATRON as FOOTPRINT
from gpu_course.planner.memory import Memory, memory
from gpu_course.planner.nearest import nearest
from gpu_course.planner.programs import MEGATRON_CORE
from gpu_course.planner.search import Plan as Found
from gpu_course.planner.search import search
from gpu_course.planner.step_time import step_time
from gpu_course.units import GIB

Plan = dict[str, Any]
"""Plain values by the names of PARTS."""

_WHOLE = ("model", "cluster", "layout", "batch")
_SWITCHES = {
    each.name for kind in (Transformer, Layout) for each in fields(kind) if each.type == "bool"
}

MARGIN = 0.2
"""How far memory and step may be from the planner's. Of its own predictions of memory nine in ten
lie so near to what was measured."""
SLOWER = 0.25
"""How much longer a step may take than that of the best layout: what a plan may pay for being
simple, or for a framework that knows fewer layouts."""
ARITHMETIC = 0.03
"""How far a number may be from what follows from others of the plan, which were rounded."""
AROUND_YOUNG = 2.0
"""How many times longer or shorter than Young's an interval may be: a quarter more is lost then."""
LOST = (0.25, 0.005)
"""How far lost time may be from what writes and failures take: a part of it, and a share of all."""
RISKS = 3
MOST = {"gpus": 100_000, "layers": 1000, "pp": 1000, "experts": 1000}
"""More of them than anybody has: beyond, looking for a legal layout takes minutes."""
MOST_OF_ALL = 10_000_000
"""Of every other whole number in model, cluster, layout and batch."""


class Unsaid(CourseError):
    """The plan does not say what a criterion needs, or says what cannot be."""


# What a plan says


def draft() -> Plan:
    """Returns a plan to begin with: what is None is still to be said."""
    return copy.deepcopy(_DRAFT)


_DRAFT: Plan = {
    "title": "An 8B model on 256 GPUs",
    "model": {
        "layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "mlp": 14_336,
        "gated": True, "vocabulary": 128_256, "norm": "rms",
    },
    "cluster": {"machine": "H100", "gpus": 256},
    "layout": {"dp": 32, "tp": 8},
    "batch": {"sequences": 512, "tokens": 8192},
    "run": {"tokens": 2e12, "memory_gib": None, "step_s": None, "days": None},
    "failures": {
        "gpu_hours_each": None, "write_s": None, "recover_s": None, "interval_s": None,
        "goodput": None,
    },
    "cost": {"price": None, "pue": None, "gpu_hours": None, "mwh": None, "dollars": None},
    "risks": [],
    "sources": {},
}  # fmt: skip


class Read:
    """A plan, read part by part; what is worked out from it is kept.

    Args:
        plan: plain values.

    Raises:
        CourseError: it is no dict.
    """

    def __init__(self, plan: Mapping[str, Any]) -> None:
        if not isinstance(plan, Mapping):
            raise CourseError(f"a plan is {_shown(plan)}", "a plan is a dict; begin with draft()")
        self.plan = plan

    def part(self, name: str) -> dict[str, Any]:
        """Returns a part of the plan.

        Raises:
            Unsaid: it is not there, or holds what no plan has.
        """
        found = self.plan.get(name)
        if not isinstance(found, Mapping):
            raise Unsaid(f"{name} is {_shown(found)}, and a dict is asked for")
        if odd := sorted(set(map(str, found)) - set(PARTS[name])):
            raise Unsaid(f"{name} has {', '.join(odd)}; it knows {', '.join(PARTS[name])}")
        if name in _WHOLE:
            for key, value in found.items():
                most = MOST.get(key, MOST_OF_ALL)
                if isinstance(value, int) and value > most:
                    raise Unsaid(f"{name}.{key} is {value:,}: plan with {most:,} at most")
                if key in _SWITCHES and not isinstance(value, bool):
                    raise Unsaid(f"{name}.{key} is {_shown(value)}: say True or False")
        return dict(found)

    def number(self, part: str, name: str, least: float = 0.0, most: float = math.inf) -> float:
        """Returns a number above `least`, up to `most`.

        Raises:
            Unsaid: it is none.
        """
        return _number(self.part(part).get(name), f"{part}.{name}", least, most)

    def pair(self, part: str, name: str) -> tuple[float, float]:
        """Returns (least, most); one number is both.

        Raises:
            Unsaid: it is no such pair.
        """
        found = self.part(part).get(name)
        both = found if isinstance(found, list | tuple) and len(found) == 2 else (found, found)
        low, high = (_number(each, f"{part}.{name}", 0.0, math.inf) for each in both)
        if low > high:
            raise Unsaid(f"{part}.{name} goes from {low:,g} to {high:,g}: the least comes first")
        return low, high

    @functools.cached_property
    def model(self) -> Transformer:
        return _built(lambda: Transformer.of(self.part("model")))

    @functools.cached_property
    def cluster(self) -> Cluster:
        said = self.part("cluster")
        return _built(lambda: Cluster(machine(str(said.get("machine"))), said.get("gpus", 0)))

    @functools.cached_property
    def layout(self) -> Layout:
        said = self.part("layout")
        if isinstance(said.get("split"), list):
            said["split"] = tuple(said["split"])
        return _built(lambda: Layout(**said, recipe=MEGATRON_ADAM))

    @functools.cached_property
    def batch(self) -> Batch:
        said = self.part("batch")
        return _built(lambda: Batch(said.get("sequences", 0), said.get("tokens", 0)))

    @functools.cached_property
    def broken(self) -> dict[str, str]:
        """The rules that the layout breaks."""
        return broken_rules(self.model, self.layout, self.batch, self.cluster)

    def legal(self) -> None:
        """Raises Unsaid where the layout is not legal."""
        if self.broken:
            raise Unsaid("a layout that is legal")

    @functools.cached_property
    def memory(self) -> Memory:
        """What the planner says of the memory."""
        self.legal()
        return memory(self.model, self.layout, self.batch, FOOTPRINT)

    @functools.cached_property
    def step_s(self) -> float:
        """What the planner says of a step."""
        self.legal()
        card = self.cluster.card
        return float(step_time(self.model, self.layout, self.batch, card, MEGATRON_CORE).total)

    @property
    def mtbf_s(self) -> float:
        """Between two failures of the run."""
        return 3600 * self.number("failures", "gpu_hours_each") / self.cluster.gpus

    @property
    def young_s(self) -> float:
        """Young's interval between two checkpoints."""
        return math.sqrt(2 * self.number("failures", "write_s") * self.mtbf_s)


def _number(found: Any, name: str, least: float, most: float) -> float:
    if found is None:
        raise Unsaid(f"{name} is not said")
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        raise Unsaid(f"{name} is {_shown(found)}, and a finite number is asked for")
    if not least < found <= most:
        limit = f"above {least:,g}" if math.isinf(most) else f"above {least:,g}, {most:,g} at most"
        raise Unsaid(f"{name} is {found:,g}: it is {limit}")
    return float(found)


def _built(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except Unsaid:
        raise
    except CourseError as error:
        raise Unsaid(error.fact, error.hint) from None
    except TypeError as error:
        raise Unsaid(f"a value is of another kind than is asked for: {error}") from None


def _shown(value: Any) -> str:
    """Returns a value as a message has it."""
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:,.0f}" if 1000 <= abs(value) < 1e12 else f"{value:,.4g}"
    said = repr(value)
    return said if len(said) < 40 else f"{said[:36]} ..."


# The criteria

Judged = tuple[bool, str, str]
"""Whether it is met, the fact, and what to try."""


def _legal(read: Read) -> Judged:
    if not read.broken:
        return True, f"{read.layout} is legal on {read.cluster.gpus:,} GPUs", ""
    near = nearest(read.model, read.layout, read.batch, read.cluster)
    fact = "; ".join(read.broken.values())
    on = "" if near.gpus == read.cluster.gpus else f" on {near.gpus:,} GPUs"
    return False, fact, f"the nearest that is legal{on}: {near}"


def _fits(read: Read) -> Judged:
    room, takes = read.cluster.memory_bytes, read.memory.bytes
    if takes <= room:
        return True, f"the fullest GPU has room in its {_gib(room)}", ""
    ways = [words for words, _ in read.memory.remedies()]
    fact = f"the fullest GPU would take {takes / room:,.2g} times its {_gib(room)}"
    return False, fact, "; ".join(ways) or "more GPUs"


def _memory(read: Read) -> Judged:
    said, planned = read.number("run", "memory_gib") * GIB, read.memory.bytes
    if _near(said, planned, MARGIN):
        return True, f"you say {_gib(said)}, the planner {_gib(planned)}", ""
    entries = read.memory.worst.entries
    three = sorted(entries, key=lambda name: -entries[name])[:3]
    return False, f"{_gib(said)} is {_off(said, planned)}", f"count {', '.join(three)} again"


def _step(read: Read) -> Judged:
    said = read.number("run", "step_s")
    if _near(said, read.step_s, MARGIN):
        return True, f"you say {said:,.3g} s a step, the planner {read.step_s:,.3g} s", ""
    fact = f"{_shown(said)} s a step is {_off(said, read.step_s)}"
    return False, fact, "products, traffic that nothing hides, the bubble: what is left out?"


def _off(said: float, planned: float) -> str:
    """Returns on which side of the planner's a number is; by how much would say what it is."""
    side = "more" if said > planned else "less"
    return f"over {100 * MARGIN:.0f} % {side} than the planner has"


def _fast(read: Read) -> Judged:
    read.legal()
    try:
        best = _best(read.model, read.cluster, read.batch)
    except CourseError as error:
        return False, error.fact, error.hint
    over = read.step_s / best.step_s - 1
    fact = f"a step takes {100 * over:,.0f} % longer than with the best layout that fits"
    if over < 0.005:
        fact = "no layout that fits is faster by a per cent"
    if over <= 0:
        fact = "no layout of the search that fits is faster"
    return over <= SLOWER, fact, str(best.layout)


@functools.lru_cache(maxsize=8)
def _best(model: Transformer, cluster: Cluster, batch: Batch) -> Found:
    return search(model, cluster, batch).best(1)[0]


def _days(read: Read) -> Judged:
    per_step = read.batch.sequences * read.batch.tokens
    steps = read.number("run", "tokens") / per_step
    useful = read.number("failures", "goodput", most=1.0)
    follows = steps * read.number("run", "step_s") / useful / 86_400
    said = read.number("run", "days")
    if _near(said, follows, ARITHMETIC):
        return True, f"{steps:,.0f} steps take {_shown(said)} days, failures and all", ""
    fact = f"{_shown(said)} days are not what {steps:,.0f} of your steps come to"
    return False, fact, "seconds of all steps, over the goodput, in days"


def _interval(read: Read) -> Judged:
    said = read.number("failures", "interval_s")
    ratio = said / read.young_s
    if 1 / AROUND_YOUNG <= ratio <= AROUND_YOUNG:
        return True, f"{_shown(said)} s between writes, {ratio:.2f} of Young's interval", ""
    side = "longer" if ratio > 1 else "shorter"
    times = f"over {AROUND_YOUNG:g} times {side} than Young's interval"
    once = f"{read.cluster.gpus:,} GPUs are stopped once in {_shown(read.mtbf_s / 3600)} h"
    return False, f"{_shown(said)} s between writes is {times}", once


def _goodput(read: Read) -> Judged:
    said = read.number("failures", "goodput", most=1.0)
    interval, write = read.number("failures", "interval_s"), read.number("failures", "write_s")
    left = useful_share(read.mtbf_s, interval, write, read.number("failures", "recover_s"))
    if abs(said - left) <= max(LOST[0] * (1 - left), LOST[1]):
        return True, f"{100 * said:.1f} % of the time make steps that last", ""
    fact = f"{100 * said:.1f} % is not what writes, losses and recoveries leave"
    return False, fact, "a write in each interval; half an interval and a recovery in each failure"


def _cost(read: Read) -> Judged:
    hours = read.number("run", "days") * 24 * read.cluster.gpus
    mwh = hours * read.cluster.card.watts * read.number("cost", "pue", 0.999) / 1e6
    price, dollars = read.pair("cost", "price"), read.pair("cost", "dollars")
    rows = [
        ("GPU-hours", read.number("cost", "gpu_hours"), hours),
        ("MWh", read.number("cost", "mwh"), mwh),
        ("dollars at least", dollars[0], price[0] * hours),
        ("dollars at most", dollars[1], price[1] * hours),
    ]
    for name, said, follows in rows:
        if not _near(said, follows, ARITHMETIC):
            fact = f"{_shown(said)} {name} do not follow from the rest of the plan"
            return False, fact, f"{read.cluster.gpus:,} GPUs are held for all of the days"
    fact = f"{hours:,.0f} GPU-hours, {mwh:,.0f} MWh, ${dollars[0]:,.0f} to {dollars[1]:,.0f}"
    return True, fact, ""


def _sources(read: Read) -> Judged:
    said = read.plan.get("sources")
    if not isinstance(said, Mapping):
        raise Unsaid(f"sources is {_shown(said)}, and a dict is asked for")
    kinds = {name: source_kind(said.get(name)) for name in SOURCED}
    without = [name for name, kind in kinds.items() if not kind]
    assumed = [name for name, kind in kinds.items() if kind == "assumed"]
    if without:
        return False, f"no source of {', '.join(without)}", SOURCE_WORDS
    fact = f"each number has a source; assumed are {', '.join(assumed) or 'none'}"
    if 2 * len(assumed) > len(SOURCED):
        return False, fact, "measure or look up at least half of them"
    return True, fact, ""


def _risks(read: Read) -> Judged:
    said = read.plan.get("risks")
    if not isinstance(said, Sequence) or isinstance(said, str):
        raise Unsaid(f"risks is {_shown(said)}, and a list is asked for")
    whole = {_risk(each) for each in said} - {None}
    fact = f"{len(whole)} different risks are whole, each with what, sign and answer"
    return len(whole) >= RISKS, fact, "what may go wrong, how it is seen, and what is done then"


def _risk(said: Any) -> str | None:
    """Returns what a risk is about; None where part of it is missing or says nothing."""
    if not isinstance(said, Mapping):
        return None
    words = [str(said.get(name) or "").strip().lower() for name in ("what", "sign", "answer")]
    whole = all(len(each.split()) >= 2 for each in words) and len(set(words)) == 3
    return words[0] if whole else None


def _near(said: float, other: float, margin: float) -> bool:
    return abs(said - other) <= margin * other


def _gib(size: float) -> str:
    return f"{size / GIB:,.1f} GiB"


CRITERIA: tuple[tuple[str, str, int, Callable[[Read], Judged]], ...] = (
    ("legal", "the layout is legal on the cluster", 10, _legal),
    ("fits", "the model fits", 10, _fits),
    ("memory", "its memory is as the planner has it", 10, _memory),
    ("step", "a step is as the planner has it", 10, _step),
    ("fast", "no layout is much faster", 10, _fast),
    ("days", "the days follow from step, tokens and goodput", 10, _days),
    ("interval", "checkpoints are about as far apart as Young says", 10, _interval),
    ("goodput", "the goodput follows from failures and interval", 5, _goodput),
    ("cost", "hours, energy and money follow", 10, _cost),
    ("sources", "each number that comes from elsewhere says where", 10, _sources),
    ("risks", "three risks, each with a sign and an answer", 5, _risks),
)
"""(key, title, points, function), in the order in which they are said."""


def rubric() -> str:
    """Returns the criteria and what each is worth."""
    return "\n".join(f"{key:<10}{points:>3}  {title}" for key, title, points, _ in CRITERIA)


@telling
def graded(plan: Mapping[str, Any]) -> Grade:
    """Returns what a plan is worth, criterion by criterion.

    Args:
        plan: as `draft` has it.

    Raises:
        CourseError: it is no dict.
    """
    return grade_of(plan)


def grade_of(plan: Mapping[str, Any]) -> Grade:
    """Returns the same; an error of the course is raised, and not said.

    Args:
        plan: as `draft` has it.

    Raises:
        CourseError: it is no dict.
    """
    read, found = Read(plan), []
    first: dict[str, str] = {}
    for criterion in CRITERIA:
        finding = _finding(read, *criterion)
        if finding.met is None:
            # What several wait for is told once.
            if finding.fact in first:
                finding = replace(finding, fact=f"for what {first[finding.fact]} needs", advice="")
            else:
                first[finding.fact] = finding.key
        found.append(finding)
    return Grade(str(plan.get("title") or "a plan without a title"), tuple(found))


def _finding(
    read: Read, key: str, title: str, points: int, judge: Callable[[Read], Judged]
) -> Finding:
    try:
        met, fact, advice = judge(read)
    except Unsaid as unsaid:
        return Finding(key, title, points, None, unsaid.fact, unsaid.hint)
    return Finding(key, title, points, met, fact, "" if met else advice)


@telling
def exported(plan: Mapping[str, Any], path: str | Path) -> Path:
    """Writes a plan and its grade as a page that stands alone, and returns its path.

    Args:
        plan: as `draft` has it.
        path: of the page; one that was exported before is replaced.

    Raises:
        CourseError: something else lies there, or the plan is no dict.
    """
    from gpu_course.lessons.across_oceans.plan_page import is_page, page

    file = Path(path)
    if file.exists() and not is_page(file):
        raise CourseError(
            f"{file} is there already and was not exported from a plan", "choose another name"
        )
    file.write_text(page(plan, grade_of(plan)), encoding="utf-8")
    return file


def main(arguments: Sequence[str]) -> int:
    """Grades the plan of a TOML file, and returns 0 where all criteria are met, else 1; 2 for none.

    Args:
        arguments: the file, and after it the page that is to be written, if any.
    """
    if not 1 <= len(arguments) <= 2:
        print("usage: python -m gpu_course.lessons.across_oceans.capstone PLAN.toml [PAGE.html]")
        return 2
    try:
        plan = tomllib.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        print(f"{arguments[0]}: {error}")
        return 2
    found = grade_of(plan)
    print(found)
    if len(arguments) == 2:
        print(exported(plan, arguments[1]))
    return 0 if found.passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
