"""What lesson 22 shows: hooks on real ranks, what PyTorch's own sends, and what hides behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gpu_course.claims.published import rows
from gpu_course.errors import CourseError
from gpu_course.lessons.data_parallel.bucketed import buckets as buckets_by_rule
from gpu_course.lessons.data_parallel.claims import data_parallel as claims
from gpu_course.lessons.data_parallel.overlap import bucket_sizes, exposed_s, sent_buckets
from gpu_course.lessons.data_parallel.pictures import Bucket, Span, draw_buckets, draw_overlap
from gpu_course.measure.alpha_beta import Link
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import telling
from gpu_course.notebook.own.ranks import ranked_puzzle, run_own
from gpu_course.notebook.pictures import Picture
from gpu_course.ranks.runner import Run, run_function
from gpu_course.units import GB, KIB, MIB, format_bytes
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.figure import Figure


AGREE = 1e-12
"""Weights of two runs in float64 that differ by less are the same but for rounding."""
NODE_GPUS = 8

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
    from gpu_course.lessons.data_parallel import runs

    function = ranked_puzzle(name).functions[0]
    if function not in ("ddp", "bucketed"):
        raise CourseError(f"{name} is no way to train by itself", 'name "ddp" or "bucketed"')
    size = 0 if function == "ddp" else max(1, round(bucket_kib * KIB))
    return run_own(name, runs.beside_ddp, ranks, function=function, bucket_bytes=size)


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
    from gpu_course.lessons.data_parallel import runs

    given = {"bucket_mib": bucket_mib, "find_unused": find_unused}
    run = run_function(runs.ddp_passes, 2, given)
    calls = {c.number: c for c in run.calls if c.rank == 0}
    passes: list[list[int]] = []
    for what, number in run.told[0]:
        if what == "mark":
            passes.append([])
        elif what == "begins" and passes and calls[number].kind == "all_reduce":
            passes[-1].append(calls[number].payload_bytes)
    return tuple(map(tuple, passes))


# What more ranks ask of the batch


def computing_text() -> str:
    """Returns how much of a step computes on 16 to 256 GPUs, with one batch and with a growing one.

    By the model that adds up computing and sending, with the bus bandwidths of the Playbook's
    cluster. The growing batch has as many sequences for each GPU as one node of 8 has.
    """
    each = claims.BATCH_SEQUENCES // NODE_GPUS
    lines = [f"{'':>8}{'same batch':>22}{f'{each} for each GPU':>26}"]
    lines += [f"{'GPUs':>8}" + f"{'sequences':>13}{'computes':>11}" * 2]
    for row in rows("22_data_parallel", "1.34B on 8 to 256 GPUs, nothing hidden"):
        gpus = round(row.arguments["gpus"])
        line = f"{gpus:>8}"
        for sequences in (claims.BATCH_SEQUENCES, each * gpus):
            share = claims.computing_share(**row.arguments, sequences=sequences)
            line += f"{sequences:>13,}{share:>11.0%}"
        lines.append(line)
    return "\n".join(lines)


def accelerate_text(ranks: int = 2) -> str:
    """Returns what the same training comes to under Hugging Face Accelerate, where it is there.

    Args:
        ranks: how many.
    """
    from gpu_course.lessons.data_parallel import runs

    found = run_function(runs.under_accelerate, ranks).results
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
