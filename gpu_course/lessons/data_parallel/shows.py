"""What lesson 22 shows: hooks on real ranks, what DDP sends, overlap, large batches, staleness."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.lessons.data_parallel.bucketed import buckets as buckets_by_rule
from gpu_course.lessons.data_parallel.overlap import bucket_sizes, exposed_s, sent_buckets
from gpu_course.lessons.data_parallel.parameter_server import PULL, PUSH, versions
from gpu_course.lessons.data_parallel.pictures import Bucket, Span, draw_buckets, draw_overlap
from gpu_course.measure.alpha_beta import Link
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import telling
from gpu_course.notebook.own_ranks import ranked_puzzle, run_own, run_text
from gpu_course.notebook.pictures import Picture
from gpu_course.ranks.runner import Run
from gpu_course.units import GB, KIB, MIB, format_bytes
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gpu_course.lessons.data_parallel.large_batch import Rows, Trained

AGREE = 1e-12
"""Weights of two runs in float64 that differ by less are the same but for rounding."""

_BESIDE = """
def course_main(bucket_bytes):
    from gpu_course.ranks.wire import mark
    from gpu_course.lessons.data_parallel.training import beside_ddp

    return beside_ddp({function}, bucket_bytes, mark)
"""


# The learner's own hooks on the tiny GPT


@asks_for_answers
@telling
def own_steps(name: str, ranks: int = 2, bucket_kib: float = 32) -> str:
    """Returns how your hooks train the tiny GPT, beside PyTorch's DDP and beside one process.

    Args:
        name: "ddp" or "bucketed".
        ranks: how many.
        bucket_kib: how full a bucket may get, for "bucketed".
    """
    run = _own_beside(name, ranks, bucket_kib)
    own = [c for c in run.calls if c.rank == 0 and c.kind == "all_reduce" and c.line]
    many = sum(c.number < _first_of_ddp(run) for c in own)
    lines = [f"your {name}, 3 steps of the tiny GPT on {count(ranks, 'rank')}, in float64"]
    for what in ("from DDP", "from one process"):
        far = max(result[what] for result in run.results)
        said = "the same weights" if far < AGREE else f"weights differ by {far:.1e}"
        lines.append(f"  {what + ':':<18} {said}")
    lines.append(f"  {'messages of yours:':<18} {many} of each rank, {many // 3} in a step")
    return "\n".join(lines)


def _first_of_ddp(run: Run) -> int:
    """Returns the number of rank 0's first call that DDP makes: it gathers to check the shapes."""
    return next(c.number for c in run.calls if c.rank == 0 and c.kind == "all_gather")


def _own_beside(name: str, ranks: int, bucket_kib: float) -> Run:
    function = ranked_puzzle(name).functions[0]
    if function not in ("ddp", "bucketed"):
        raise CourseError(f"{name} is no way to train by itself", 'name "ddp" or "bucketed"')
    size = 0 if function == "ddp" else max(1, round(bucket_kib * KIB))
    return run_own(name, ranks, _BESIDE.format(function=function), bucket_bytes=size)


@asks_for_answers
@telling
def own_buckets(name: str = "bucketed", ranks: int = 2, bucket_kib: float = 32) -> Picture:
    """Returns a picture of your buckets in the first backward pass of the tiny GPT, on real ranks.

    Args:
        name: "bucketed".
        ranks: how many.
        bucket_kib: how full a bucket may get.
    """
    return Picture(draw_buckets(own_pass(name, ranks, bucket_kib), f"your {name}, rank 0"))


def own_pass(name: str, ranks: int, bucket_kib: float) -> tuple[Bucket, ...]:
    """Returns what became of each bucket in the first backward pass of rank 0.

    Args:
        name: "bucketed".
        ranks: how many.
        bucket_kib: how full a bucket may get.

    Raises:
        CourseError: the answer cannot be run, or its run came to no end.
    """
    from gpu_course.lessons.data_parallel import training as training

    run = _own_beside(name, ranks, bucket_kib)
    sizes = [(each.numel(), True) for each in training.tiny_gpt().parameters()]
    rule = buckets_by_rule(sizes, round(bucket_kib * KIB))
    bytes_of = {c.number: c.payload_bytes for c in run.calls if c.rank == 0}
    return first_pass(run.told[0], rule, bytes_of, training.BEGINS, training.ENDS)


def first_pass(
    told: Sequence[tuple[str, int]],
    rule: Sequence[Sequence[int]],
    bytes_of: Mapping[int, int],
    begins: int,
    ends: int,
) -> tuple[Bucket, ...]:
    """Returns what became of each bucket, from what a rank told.

    Args:
        told: its events, in order.
        rule: the numbers of the parameters in each bucket.
        bytes_of: {number of a call: its payload}.
        begins, ends: the marks of a backward pass.
    """
    place: dict[int, int] = {}
    begun: list[tuple[int, int | None]] = []
    waited: dict[int, int | None] = {}
    passing = over = False
    for what, number in told:
        now = None if over else len(place) - 1
        if (what, number) == ("mark", begins):
            if over:
                break
            passing = True
        elif (what, number) == ("mark", ends):
            over = True
        elif passing and what == "mark":
            place.setdefault(number, len(place))
        elif passing and what == "begins":
            begun.append((number, now))
        elif passing and what == "waits":
            waited.setdefault(number, now)
    return tuple(
        Bucket(tuple(place.get(number) for number in bucket), at, waited.get(call), bytes_of[call])
        for bucket, (call, at) in zip(rule, begun, strict=False)
    )


# What PyTorch's own sends


def ddp_text(bucket_mib: float | None = None, find_unused: bool = False) -> str:
    """Returns the messages of three backward passes under PyTorch's DDP, as the wire saw them.

    Args:
        bucket_mib: `bucket_cap_mb`; None for PyTorch's own.
        find_unused: `find_unused_parameters`.
    """
    lines = []
    for number, sizes in enumerate(ddp_messages(bucket_mib, find_unused)):
        said = ", ".join(f"{size / MIB:.2f}" for size in sizes)
        lines.append(f"pass {number}: {count(len(sizes), 'message')} of {said} MiB")
    return "\n".join(lines)


def ddp_messages(
    bucket_mib: float | None = None, find_unused: bool = False
) -> tuple[tuple[int, ...], ...]:
    """Returns the bytes of rank 0's all-reduces in three backward passes of DDP.

    Args:
        bucket_mib, find_unused: as in `ddp_text`.
    """
    tail = (
        "from gpu_course.ranks.wire import mark\n"
        "from gpu_course.lessons.data_parallel.training import ddp_passes\n\n\n"
        "def course_main(bucket_mib, find_unused):\n"
        "    return ddp_passes(mark, bucket_mib or None, find_unused)\n"
    )
    arguments: dict[str, Any] = {"bucket_mib": bucket_mib or 0.0, "find_unused": find_unused}
    run = run_text(tail, "library.py", 2, **arguments)
    calls = {c.number: c for c in run.calls if c.rank == 0}
    passes: list[list[int]] = []
    for what, number in run.told[0]:
        if what == "mark":
            passes.append([])
        elif what == "begins" and passes and calls[number].kind == "all_reduce":
            passes[-1].append(calls[number].payload_bytes)
    return tuple(map(tuple, passes))


def accelerate_text(ranks: int = 2) -> str:
    """Returns what the same training comes to under Hugging Face Accelerate, where it is there.

    Args:
        ranks: how many.
    """
    tail = (
        "from gpu_course.lessons.data_parallel.training import under_accelerate\n\n\n"
        "def course_main():\n    return under_accelerate()\n"
    )
    found = run_text(tail, "under_accelerate.py", ranks).results
    if found[0]["missing"]:
        return "Accelerate is not installed here: `pip install accelerate` brings it"
    far = max(each["from one process"] for each in found)
    said = "the same weights" if far < AGREE else f"weights differ by {far:.1e}"
    return (
        f"Accelerate on {count(ranks, 'rank')} wraps the model in {found[0]['wraps']}\n"
        f"  from one process:  {said}"
    )


# Overlap, by the model


def overlapped(
    bucket_mib: float = 25, gb_per_s: float = 10, alpha_us: float = 20, backward_ms: float = 400
) -> Figure:
    """Returns what a backward pass hides of 2 GB of gradients on 64 ranks, by alpha and beta.

    Args:
        bucket_mib: of a bucket.
        gb_per_s: of each rank's port.
        alpha_us: microseconds of a message before its first byte.
        backward_ms: milliseconds of the pass.
    """
    link = Link(alpha_us * 1e-6, gb_per_s * GB)
    total, seconds = 2 * GB, backward_ms * 1e-3
    sent = sent_buckets(bucket_sizes(total, bucket_mib * MIB), seconds, 64, link)
    spans = [Span(each.ready_s, each.begin_s, each.end_s) for each in sent]
    second = f"{format_bytes(total)} in {count(len(sent), 'bucket')}, 64 ranks, by the model"
    return draw_overlap(spans, seconds, second)


def waited_s(total_bytes: float, buckets: int, backward_s: float, ranks: int, link: Link) -> float:
    """Returns how long a step waits for equal buckets after its backward pass.

    Args:
        total_bytes: of all gradients.
        buckets: how many.
        backward_s: of the pass.
        ranks: of the ring.
        link: between neighbours.
    """
    sizes = [total_bytes / buckets] * buckets
    return exposed_s(sent_buckets(sizes, backward_s, ranks, link), backward_s)


# Large batches


EPOCHS = 20
BIG_RATES = {"lars": (1.0, 0.05), "lamb": (0.05, 0.001)}
"""Optimizer -> (full rate, the one a warm-up begins with), found by trying a few."""
_rows: list[Rows] = []


def rows() -> Rows:
    """Returns the rows of the lesson, drawn once."""
    from gpu_course.lessons.data_parallel.large_batch import draw_rows

    if not _rows:
        _rows.append(draw_rows())
    return _rows[0]


def trained(way: str, batch: int) -> Trained:
    """Returns a small model after 20 epochs.

    Args:
        way: "same rate", "scaled", "scaled, warmed up", "lars" or "lamb".
        batch: rows of a step, a divisor of 2,048.

    Raises:
        CourseError: there is no such way.
    """
    from gpu_course.lessons.data_parallel import large_batch as lb

    full = lb.BASE_RATE * batch / lb.BASE_BATCH
    warmup = 5 * lb.ROWS // batch
    if way in BIG_RATES:
        most, start = BIG_RATES[way]
        rate = lb.warmed_up(most, start, warmup)
        return lb.train(rows(), batch, rate, optimizer=way, epochs=EPOCHS)
    rates = {
        "same rate": lambda at: lb.BASE_RATE,
        "scaled": lambda at: full,
        "scaled, warmed up": lb.warmed_up(full, lb.BASE_RATE, warmup),
    }
    if way not in rates:
        known = ", ".join([*rates, *BIG_RATES])
        raise CourseError(f"no way of training is called {way!r}", f"try {known}")
    return lb.train(rows(), batch, rates[way], epochs=EPOCHS)


WAYS = ("same rate", "scaled", "scaled, warmed up", "lars", "lamb")


def loss_after(way: str, batch: int) -> float:
    """Returns the loss of all training rows after 20 epochs.

    Args:
        way, batch: as in `trained`.
    """
    return trained(way, batch).losses[-1]


def batches_text(batch: int, ways: Sequence[str] = WAYS) -> str:
    """Returns a table of small models, each trained its own way with the same rows.

    Args:
        batch: rows of a step.
        ways: as `trained` takes them.
    """
    lines = [f"batches of {batch:,}", f"{'':<20}{'steps':>6}{'loss':>8}"]
    for way in ways:
        run = trained(way, batch)
        loss = "lost" if run.diverged else f"{run.losses[-1]:.2f}"
        lines.append(f"{way:<20}{run.steps:>6}{loss:>8}")
    return "\n".join(lines)


SHARP_GOAL, LARGE = 0.45, 512


def minima() -> dict[str, Trained]:
    """Returns three models that were trained until they had the same loss, or a little less.

    Returns:
        "small batch", "large batch" at the same rate, and "large batch, scaled rate".
    """
    from gpu_course.lessons.data_parallel import large_batch as lb

    base, full = lb.BASE_RATE, lb.BASE_RATE * LARGE / lb.BASE_BATCH
    warm = lb.warmed_up(full, base, 5 * lb.ROWS // LARGE)
    runs: dict[str, tuple[int, Callable[[int], float]]] = {
        "small batch": (lb.BASE_BATCH, lambda at: base),
        "large batch": (LARGE, lambda at: base),
        "large batch, scaled rate": (LARGE, warm),
    }
    return {
        name: lb.train(rows(), batch, rate, epochs=200, goal=SHARP_GOAL)
        for name, (batch, rate) in runs.items()
    }


def sharpness_of(run: Trained) -> float:
    """Returns how sharp the minimum is that a run came to, in %.

    Args:
        run: of `minima`.
    """
    from gpu_course.lessons.data_parallel.large_batch import sharpness

    return sharpness(run.model, rows().x, rows().y)


def sharpness_text(runs: Mapping[str, Trained]) -> str:
    """Returns a table of minima: how sharp each is, and how well it does on rows it never saw.

    Args:
        runs: as `minima` gives them.
    """
    lines = [f"{'':<26}{'steps':>6}{'loss':>7}{'sharp':>7}{'right':>7}"]
    for name, run in runs.items():
        lines.append(
            f"{name:<26}{run.steps:>6}{run.losses[-1]:>7.2f}{sharpness_of(run):>6.0f}%"
            f"{run.test_percent:>6.0f}%"
        )
    return "\n".join(lines)


def losses(batch: int = 1024) -> Figure:
    """Returns the losses of all ways of training over the epochs, for a batch.

    Args:
        batch: rows of a step, a divisor of 2,048.
    """
    from gpu_course.draw.training.training_runs import draw_losses
    from gpu_course.lessons.data_parallel.large_batch import ROWS

    runs = {way: trained(way, batch).losses for way in WAYS}
    return draw_losses(runs, ROWS // batch)


# Stale gradients


def round_robin(workers: int, pushes: int) -> list[tuple[str, int]]:
    """Returns the order in which equally fast workers reach a parameter server.

    Each pulls again right after its push.

    Args:
        workers: how many.
        pushes: how many in all.
    """
    events = [(PULL, worker) for worker in range(workers)]
    for number in range(pushes):
        events += [(PUSH, number % workers), (PULL, number % workers)]
    return events


def staleness(workers: int, pushes: int = 40) -> list[int]:
    """Returns how many versions old the gradients of equally fast workers are.

    Args:
        workers: how many.
        pushes: how many in all.
    """
    one = np.eye(1)
    return versions(np.ones(1), one, np.zeros(1), 0.1, pushes, round_robin(workers, pushes))[1]


def stale_descent(workers: int, rate: float, pushes: int = 120) -> list[float]:
    """Returns the distances from the minimum of a parabola of curvature 1, push by push.

    Args:
        workers: how many, all equally fast.
        rate: of a step.
        pushes: how many.
    """
    events = round_robin(workers, pushes)
    history, _ = versions(np.ones(1), np.eye(1), np.zeros(1), rate, pushes, events)
    return [abs(float(each[0])) for each in history]


def stale(workers: int = 8, rate: float = 0.15) -> Figure:
    """Returns descent with stale gradients beside descent with fresh ones.

    Args:
        workers: how many, all equally fast.
        rate: of a step.
    """
    from gpu_course.draw.training.training_runs import draw_losses

    every = 4
    runs = {
        f"{count(workers, 'worker')}": stale_descent(workers, rate)[::every],
        "1 worker": stale_descent(1, rate)[::every],
    }
    if workers == 1:
        runs = {"1 worker": runs["1 worker"]}
    return draw_losses(runs, every)
