"""What lesson 33 shows: two islands in training, links, smaller models, long windows."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gpu_course.draw.paper.palette import RULE
from gpu_course.errors import CourseError
from gpu_course.lessons.across_oceans import lengths, scaling
from gpu_course.lessons.across_oceans.links import Islands, link_of
from gpu_course.lessons.across_oceans.pictures import (
    draw_lengths,
    draw_loss_over_bytes,
    draw_overheads,
    draw_rounds,
    draw_stretch,
)
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import telling
from gpu_course.notebook.own.ranks import own_source, run_own
from gpu_course.notebook.pictures import Picture
from gpu_course.ranks.runner import Run, Source, run_function, run_with
from gpu_course.ranks.traffic import booked_bytes
from gpu_course.units import GIB

Setting = tuple[int, float, float]
"""Steps of a round, and rate and momentum of the outer optimizer."""
NESTEROV = (0.7, 0.9)
"""Rate and momentum of the outer optimizer in DiLoCo."""
MEAN = (1.0, 0.0)
"""The same where the next round begins at the mean of all islands' weights."""
EVERY_STEP: Setting = (1, *MEAN)
RANKS = 2


@dataclass(frozen=True)
class Trained:
    """A run of the tiny GPT on two ranks.

    Attributes:
        h: steps of a round.
        points: (bytes that rank 0 has sent, loss of what is tested), the first before it began.
        sent_bytes: by rank 0 in the whole run.
        moved: how far the shared weights went in each round.
    """

    h: int
    points: tuple[tuple[float, float], ...]
    sent_bytes: float
    moved: tuple[float, ...]

    @property
    def loss(self) -> float:
        """At the end."""
        return self.points[-1][1]


def ran(settings: Sequence[Setting], bits: int = 64) -> list[Trained]:
    """Returns the course's own runs of 256 steps on two ranks; none is run twice.

    Args:
        settings: of each.
        bits: of a number that is sent, 64 or 8.
    """
    from gpu_course.lessons.across_oceans import letters, runs

    new = [each for each in settings if (each, bits) not in _RAN]
    if new:
        given = {"settings": new, "steps": letters.STEPS, "bits": bits}
        found = _read(run_function(runs.course_rounds, RANKS, given), new)
        _RAN.update({(setting, bits): each for setting, each in zip(new, found, strict=True)})
    return [_RAN[each, bits] for each in settings]


_RAN: dict[tuple[Setting, int], Trained] = {}


def own(settings: Sequence[Setting]) -> list[Trained]:
    """Returns the same runs of the learner's `diloco`.

    Raises:
        CourseError: there is no answer, or it does not train on each of its batches.
    """
    return list(_own(own_source("diloco"), tuple(settings)))


@lru_cache(maxsize=4)
def _own(source: Source, settings: tuple[Setting, ...]) -> tuple[Trained, ...]:
    from gpu_course.lessons.across_oceans import letters, runs

    given = {"settings": settings, "steps": letters.STEPS}
    run = run_with([source], runs.own_rounds, RANKS, given)
    rounds = [len(each["moved"]) for each in run.results[0]]
    due = [-(-letters.STEPS // h) for h, *_ in settings]
    if rounds != due:
        raise CourseError(
            f"your diloco takes {rounds[0]} rounds where {due[0]} are due",
            "solve the puzzle diloco first: its check says what is amiss",
        )
    return tuple(_read(run, settings))


def _read(run: Run, settings: Sequence[Setting]) -> list[Trained]:
    """Returns what a run of several models came to, each up to its barrier on the wire."""
    from gpu_course.lessons.across_oceans import letters

    calls = sorted((call for call in run.calls if call.rank == 0), key=lambda call: call.number)
    ends = [-1, *(call.number for call in calls if call.kind == "barrier")]
    found = []
    for number, (setting, result) in enumerate(zip(settings, run.results[0], strict=True)):
        within = [c for c in calls if ends[number] < c.number < ends[number + 1]]
        sent = float(booked_bytes(within))
        points = [(sent * step / letters.STEPS, loss) for step, loss in result["losses"]]
        found.append(Trained(setting[0], tuple(points), sent, tuple(result["moved"])))
    return found


def runs_text(runs: dict[str, Trained]) -> str:
    """Returns a line for each run: its exchanges, what a rank sent, and the loss at the end.

    Args:
        runs: by their names.
    """
    lines = [f"{'run':<26}{'exchanges':>9}{'sent by a rank':>18}{'loss':>18}"]
    for name, each in runs.items():
        lines.append(
            f"{name:<26}{len(each.moved):>9}{each.sent_bytes / 1e6:>15.3g} MB"
            f"{loss_words(each.loss):>18}"
        )
    return "\n".join(lines)


def loss_words(loss: float) -> str:
    """Returns a loss as a table has it; beyond guessing no digit of it means anything."""
    from gpu_course.lessons.across_oceans import letters

    return f"{loss:.2f}" if loss < 0.8 * letters.guessing_loss() else "as by guessing"


@asks_for_answers
@telling
def own_runs(hs: Sequence[int] = (8, 32, 128)) -> str:
    """Returns your `diloco` with rounds of several lengths, beside an exchange in every step.

    Args:
        hs: steps of a round, each.
    """
    return runs_text(_beside(hs))


@asks_for_answers
@telling
def own_picture(hs: Sequence[int] = (8, 32, 128)) -> Picture:
    """Returns the losses of the same runs over what a rank has sent.

    Args:
        hs: steps of a round, each.
    """
    from gpu_course.lessons.across_oceans import letters

    points = {name: each.points for name, each in _beside(hs).items()}
    return Picture(draw_loss_over_bytes(points, letters.guessing_loss()))


def _beside(hs: Sequence[int]) -> dict[str, Trained]:
    mine = own([(h, *NESTEROV) for h in hs])
    (every,) = ran([EVERY_STEP])
    return {"every step": every} | {f"yours, h = {each.h}": each for each in mine}


def outer_text(hs: Sequence[int] = (32, 128)) -> str:
    """Returns the same rounds where each begins at the mean of the weights.

    Args:
        hs: steps of a round, each.
    """
    found = ran([(h, *MEAN) for h in hs])
    return runs_text({f"the mean, h = {each.h}": each for each in found})


def outer_ways(rate: float, momentum: float, rounds: int = 40) -> list[float]:
    """Returns how far each outer step goes, where every round goes 1 in the same direction.

    Args:
        rate, momentum: of the outer optimizer, Nesterov's.
        rounds: how many.

    >>> outer_ways(1.0, 0.0, 2)
    [1.0, 1.0]
    """
    velocity, found = 0.0, []
    for _ in range(rounds):
        velocity = momentum * velocity + 1
        found.append(rate * (1 + momentum * velocity))
    return found


@telling
def stretch(rate: float = 0.7, momentum: float = 0.9) -> Picture:
    """Returns how far outer steps go where all rounds go the same way.

    Args:
        rate, momentum: of the outer optimizer.
    """
    return Picture(draw_stretch(outer_ways(rate, momentum, 30), rate, momentum))


def how_well(loss: float, best: float) -> str:
    """Returns in words how a loss compares with another one.

    Args:
        loss: of a run.
        best: of a run with an exchange in every step.
    """
    from gpu_course.lessons.across_oceans import letters

    if loss > 0.8 * letters.guessing_loss():
        return "no better than guessing"
    if loss > 1.5 * best:
        return "much worse"
    return "a little worse" if loss > 1.05 * best else "as good"


# Links


def islands_of(gbit_per_s: float, h: int, sent_bytes_each: int = 4) -> Islands:
    """Returns two islands that train 10 billion parameters at INTELLECT-1's pace.

    Args:
        gbit_per_s: what an island sends.
        h: steps of a round.
        sent_bytes_each: for each parameter.
    """
    return Islands(BILLIONS, sent_bytes_each, ROUND_S / 100, h, gbit_per_s / 8)


@telling
def link_budget(
    billion_parameters: float = 10,
    sent_bytes_each: int = 4,
    h: int = 1,
    gbit_per_s: float = 1.5,
    step_s: float = 22.8,
    islands: int = 2,
) -> Picture:
    """Returns rounds over time for a model, a link and a number of steps.

    Args:
        billion_parameters: of the model.
        sent_bytes_each: for each parameter.
        h: steps of a round.
        gbit_per_s: what an island sends.
        step_s: seconds of a step.
        islands: how many.
    """
    gb_per_s = gbit_per_s / 8
    return Picture(
        draw_rounds(Islands(billion_parameters, sent_bytes_each, step_s, h, gb_per_s, islands))
    )


def forty_minutes() -> str:
    """Returns what INTELLECT-1's rounds say of its links, and what they leave for computing.

    Its report tells how long 100 steps compute and how long the median exchange takes; what it
    printed of utilisation is sealed here, so the last column is a prediction.
    """
    lines = ["islands in           exchange   each sends at    computes, predicted"]
    for where, seconds in EXCHANGES_S.items():
        gb = link_of(BILLIONS, 1, ISLANDS, seconds)
        share = ROUND_S / (ROUND_S + seconds)
        lines.append(f"{where:<20}{seconds:>6} s{8 * gb:>12.2f} Gbit/s{share:>18.1%}")
    return "\n".join(lines)


ROUND_S, BILLIONS, ISLANDS = 38 * 60, 10, 14
EXCHANGES_S = {"the USA": 103, "USA and Europe": 382, "three continents": 469}
"""INTELLECT-1, arXiv 2412.01152, Table 2: 100 steps compute for 38 minutes; the median exchange."""


@asks_for_answers
@telling
def own_links() -> str:
    """Returns what your bytes_saved says of 10 billion parameters on links of several rates."""
    from gpu_course.lessons.across_oceans import runs

    rates = (0.1, 1, 10, 100)
    given = [
        {"parameters": 10**10, "ranks": ISLANDS, "h": 100, "width": width, "block": block,
         "link": {"latency_s": 0.1, "bytes_per_s": rate * 1e9 / 8}, "step_s": ROUND_S / 100,
         "goal": 0.95}
        for rate in rates
        for width, block in ((4, 0), (1, 256))
    ]  # fmt: skip
    (found,) = run_own("bytes_saved", runs.links, 1, given=given).results
    dp, wide, _ = found[0]
    _, narrow, _ = found[1]
    lines = [
        f"10 billion parameters, {ISLANDS} islands, sent by each for a step:",
        f"  data parallel {dp / 1e9:.1f} GB",
        f"  h = 100       {wide / 1e9:.3f} GB, and in int8 {narrow / 1e9:.3f} GB",
        "fewest steps of a round in which 95 % of the time computes:",
        f"{'link':>14}{'float32':>12}{'int8':>10}",
    ]
    for rate, wider, narrower in zip(rates, found[::2], found[1::2], strict=True):
        lines.append(f"{rate:>7g} Gbit/s{wider[2]:>12,}{narrower[2]:>10,}")
    return "\n".join(lines)


# Smaller models

PRINTED_CELLS = (
    scaling.Cell("parameters", 1.0, 18.73, 0.01),
    scaling.Cell("tokens", 1.0, 889.6, 0.1),
    scaling.Cell("parameters", 0.5, 9.37, 0.01),
    scaling.Cell("tokens", 0.5, 2149, 1),
    scaling.Cell("overhead", 0.75, 2.8, 0.1),
    scaling.Cell("overhead", 0.5, 20, 1),
    scaling.Cell("overhead", 0.25, 188, 1),
)
"""Of the post, but for one size of its table, which is asked for later."""


@telling
def smaller(alpha: float = 0.32, beta: float = 0.28) -> Picture:
    """Returns what smaller models cost by two exponents, and what the post prints.

    Args:
        alpha, beta: exponents of parameters and tokens.
    """
    cells = [cell for cell in PRINTED_CELLS if cell.what == "overhead"]
    return Picture(draw_overheads(cells, alpha, beta))


def cells_text(alpha: float, beta: float) -> str:
    """Returns the printed cells beside those of two exponents.

    Args:
        alpha, beta: exponents of parameters and tokens.
    """
    unit = {"overhead": "% more", "parameters": "B parameters", "tokens": "B tokens"}
    lines = [f"{'size':>5}{'printed':>10}{'computed':>11}   alpha {alpha:g}, beta {beta:g}"]
    for cell in PRINTED_CELLS:
        same = "" if cell.agrees(alpha, beta) else "   another number"
        lines.append(
            f"{cell.k_n:>5}{cell.printed:>10g}{cell.found(alpha, beta):>11.2f}   "
            f"{unit[cell.what]}{same}"
        )
    return "\n".join(lines)


@asks_for_answers
@telling
def own_exponents(step: float = 0.001) -> str:
    """Returns every pair of exponents with which your function gives two cells of the table.

    Args:
        step: between two exponents that are tried.
    """
    from gpu_course.lessons.across_oceans import runs

    size, half = PRINTED_CELLS[0], PRINTED_CELLS[3]
    law = {"E": 1.69, "A": scaling.A, "B": scaling.B}
    wanted = [size.printed, size.digit, half.printed, half.digit]
    given = {"law": law, "flop": 1e23, "wanted": wanted, "step": step}
    (pairs,) = run_own("model_size_overhead", runs.exponents, 1, **given).results
    lines = [f"tried: alpha and beta from 0.25 to 0.45 in steps of {step:g}"]
    lines += [f"alpha {alpha:g}, beta {beta:g} gives both cells" for alpha, beta in pairs]
    return "\n".join(lines if pairs else [*lines, "no pair gives both cells"])


# Long windows


@telling
def windows(window: int = 8192, bytes_per_token: float = 3.0) -> Picture:
    """Returns the files of PyTorch's package by length, and what a window of tokens meets.

    Args:
        window: in tokens.
        bytes_per_token: as the tokenizer has it.
    """
    return Picture(draw_lengths(lengths.counted(), window, bytes_per_token))


def windows_text(hidden: int, bytes_per_token: float = 3.0) -> str:
    """Returns what windows of several lengths cost, and how much of it joins tokens of one file.

    Args:
        hidden: the width of the model.
        bytes_per_token: as the tokenizer has it.
    """
    bins = lengths.counted()
    lines = [f"{'':<9}{'attention,':>12}{'files that':>13}{'their part':>13}{'pairs within':>15}"]
    lines += [f"{'window':<9}{'% of matrices':>12}{'fill it':>12}{'of tokens':>13}{'one file':>15}"]
    for kilo in (2, 8, 32, 128):
        window = 1024 * kilo
        files, tokens = lengths.longer(bins, window, bytes_per_token)
        within = lengths.own_pairs(bins, window, bytes_per_token)
        adds = (window + 1) / (12 * hidden)
        lines.append(f"{f'{kilo}K':<9}{adds:>12.0%}{files:>13.1%}{tokens:>13.0%}{within:>15.0%}")
    return "\n".join(lines)


def share_beyond(window: int, bytes_per_token: float = 3.0) -> float:
    """Returns how many % of the tokens are in files that fill a window.

    Args:
        window: in tokens.
        bytes_per_token: as the tokenizer has it.
    """
    return 100 * lengths.longer(lengths.counted(), window, bytes_per_token)[1]


MODELS: dict[str, dict[str, Any]] = {
    "GPT-2 small": {"hidden": 768, "heads": 12, "kv_heads": 12, "head_size": 64, "mlp": 3072,
                    "gated": False, "top_k": 1},
    "LLaMA-7B": {"hidden": 4096, "heads": 32, "kv_heads": 32, "head_size": 128, "mlp": 11008,
                 "gated": True, "top_k": 1},
    "Llama 3 405B": {"hidden": 16384, "heads": 128, "kv_heads": 8, "head_size": 128,
                     "mlp": 53248, "gated": True, "top_k": 1},
}  # fmt: skip
"""Models by the arguments of attention_share."""


@asks_for_answers
@telling
def own_shares(kilos: Sequence[int] = (2, 8, 32, 128)) -> str:
    """Returns the part that pairs of tokens have in a layer, by your attention_share.

    Args:
        kilos: lengths of a sequence, in 1,024 tokens.
    """
    from gpu_course.lessons.across_oceans import runs

    given = [
        {**model, "sequence": 1024 * kilo, "causal": True}
        for model in MODELS.values()
        for kilo in kilos
    ]
    (found,) = run_own("attention_share", runs.shares, 1, given=given).results
    lines = [f"{'causal':<14}" + "".join(f"{kilo:>7}K" for kilo in kilos) + f"{'a half at':>14}"]
    for number, name in enumerate(MODELS):
        own = found[number * len(kilos) : (number + 1) * len(kilos)]
        said = "".join(f"{share:>8.1%}" for share, _ in own)
        lines.append(f"{name:<14}{said}{own[0][1]:>14,}")
    return "\n".join(lines)


# What a run costs

DEEPSEEK: dict[str, Any] = {
    "stages": [{"gpu_hours": 2_664_000}, {"gpu_hours": 119_000}, {"gpu_hours": 5_000}],
    "gpus": 2048, "peak": 989.5e12, "mfu": [0.3, 0.4], "goodput": [0.9, 0.97],
    "watts": [900, 1400], "pue": 1.2, "price": [2, 2],
}  # fmt: skip
"""DeepSeek-V3's hours by stage, on 2,048 H800 at two dollars; what it does not say is a guess."""
FORETOLD: dict[str, Any] = DEEPSEEK | {"stages": [{"tokens": 14.8e12, "flop_per_token": 6 * 37e9}]}
"""The same run before anybody had trained it: 6 N FLOP for each of its tokens."""


@asks_for_answers
@telling
def own_cost() -> str:
    """Returns DeepSeek-V3's training by your run_cost: from its hours, and from tokens alone."""
    from gpu_course.lessons.across_oceans import runs

    lines = [f"{'':<18}{'from its hours':>24}{'from tokens and 6N':>24}"]
    found = [
        run_own("run_cost", runs.cost, 1, given=each).results[0] for each in (DEEPSEEK, FORETOLD)
    ]
    names = (("GPU-hours, 1000", 1e3), ("days", 1), ("GWh", 1e6), ("million dollars", 1e6))
    for place, (name, unit) in enumerate(names):
        spans = [_span(each[place][0] / unit, each[place][1] / unit) for each in found]
        lines.append(f"{name:<18}{spans[0]:>24}{spans[1]:>24}")
    return "\n".join(lines)


def _span(low: float, high: float) -> str:
    """Returns a range in four digits.

    >>> _span(2788.0, 2788.0), _span(1.0, 2.5)
    ('2,788', '1 to 2.5')
    """
    ends = [f"{end:,.0f}" if end >= 1000 else f"{end:.4g}" for end in (low, high)]
    return ends[0] if low == high else " to ".join(ends)


# A plan


def planned(plan: Mapping[str, Any]) -> tuple[float, float]:
    """Returns the GiB of the fullest GPU and the seconds of a step, by lesson 30's planner.

    Args:
        plan: with a model, a cluster, a layout and a batch, as `draft` has them.

    Raises:
        CourseError: one of them is missing, or the layout is not legal.
    """
    from gpu_course.lessons.across_oceans.capstone import Read

    read = Read(plan)
    return read.memory.bytes / GIB, read.step_s


class Page:
    """The page of a plan within a notebook; its grade where no page can be shown.

    Args:
        plan: as `draft` has it.
    """

    def __init__(self, plan: Mapping[str, Any]) -> None:
        from gpu_course.lessons.across_oceans.capstone import grade_of

        self.plan, self.grade = plan, grade_of(plan)

    def __repr__(self) -> str:
        return repr(self.grade)

    def _repr_html_(self) -> str:
        from gpu_course.lessons.across_oceans.plan_page import page

        inside = html.escape(page(self.plan, self.grade))
        return (
            f'<iframe srcdoc="{inside}" title="{html.escape(self.grade.title)}" sandbox '
            f'style="width:100%;max-width:700px;height:620px;border:1px solid {RULE}"></iframe>'
        )


@telling
def page_of(plan: Mapping[str, Any]) -> Page:
    """Returns the page of a plan, to be looked at.

    Args:
        plan: as `draft` has it.
    """
    return Page(plan)
