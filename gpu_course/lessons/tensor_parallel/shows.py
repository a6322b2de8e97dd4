"""What lesson 24 shows: a cut layer, what it keeps, runs on real ranks, and rates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gpu_course.claims.published import rows
from gpu_course.claims.tables.korthikanti import TABLE_3
from gpu_course.draw.traffic import draw_traffic
from gpu_course.errors import CourseError
from gpu_course.lessons.tensor_parallel.grids import CUTS
from gpu_course.lessons.tensor_parallel.pictures import (
    draw_cut,
    draw_heads,
    draw_kept,
    draw_rates,
)
from gpu_course.lessons.tensor_parallel.zero_or_cut import zero_3_teraflops
from gpu_course.measure.activation_formulas import LayerShape, layer_activation_bytes, layer_terms
from gpu_course.notebook.latest_cell import latest_calls
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import telling
from gpu_course.notebook.own.ranks import run_own
from gpu_course.notebook.pictures import Picture
from gpu_course.ranks.calls import Call
from gpu_course.ranks.runner import Run
from gpu_course.ranks.traffic import booked_bytes, sent_between

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BF16_BYTES = 2


def cut_layer(ranks: int = 4, tokens: int = 2048, hidden: int = 4096) -> Figure:
    """Returns a picture of an MLP in 16 bits, cut among ranks.

    Args:
        ranks: that share it, at most 8.
        tokens: that go through it.
        hidden: its width; four times as many neurons.
    """
    return draw_cut(ranks, BF16_BYTES * 8 * hidden**2, BF16_BYTES * tokens * hidden)


def cut_attention(ranks: int = 2, heads: int = 8, key_heads: int = 4) -> Figure:
    """Returns a picture of attention's four matrices, cut among ranks by heads.

    Args:
        ranks: that share it; of more than there are heads of keys, so many are drawn.
        heads: of queries.
        key_heads: of keys and values, a divisor of heads; of more than heads, so many are drawn.
    """
    groups = min(key_heads, heads)
    return draw_heads(min(ranks, groups), heads, groups)


def kept_bytes(shape: LayerShape, ranks: int) -> dict[str, tuple[float, float]]:
    """Returns {way: (bytes that every rank has whole, bytes shared out)} that one layer keeps.

    Args:
        shape: of the layer.
        ranks: that share it.
    """
    whole = sum(term.bytes for term in layer_terms(shape) if not term.split_always)
    everything = layer_activation_bytes(shape)
    selective = layer_activation_bytes(shape, recompute="selective")
    return {
        "one rank": (everything, 0.0),
        "layers cut": (whole, (everything - whole) / ranks),
        "tokens shared out, too": (0.0, everything / ranks),
        "and scores made again": (0.0, selective / ranks),
    }


def kept_by_layer(model: str = "175B", ranks: int = 8) -> Figure:
    """Returns a picture of what one layer of a model keeps on a rank, way by way.

    Args:
        model: a key of the paper's Table 3.
        ranks: that share a layer.

    Raises:
        CourseError: no model is called that.
    """
    if model not in TABLE_3:
        raise CourseError(f"no model is called {model!r}", f"try {', '.join(TABLE_3)}")
    heading = f"One layer of the {model} model on {ranks} ranks"
    return draw_kept(kept_bytes(TABLE_3[model].shape, ranks), heading)


# What crossed the wire


def calls_text(calls: Iterable[Call]) -> str:
    """Returns a table of calls: for each rank each kind, how many, and the bytes booked for them.

    >>> sums = [Call(r, 0, "all_reduce", (0, 1), 0, (8,), 64) for r in (0, 1)]
    >>> print(calls_text(sums))
    rank  call            times   bytes booked
       0  all_reduce          1             64
       1  all_reduce          1             64
    """
    times: Counter[tuple[int, str]] = Counter()
    booked: Counter[tuple[int, str]] = Counter()
    for call in calls:
        key = (call.rank, call.kind)
        times[key] += 1
        booked[key] += round(call.booked_bytes)
    lines = [f"{'rank':>4}  {'call':<15}{'times':>6}{'bytes booked':>15}"]
    for rank, kind in sorted(times):
        number, sent = times[rank, kind], booked[rank, kind]
        lines.append(f"{rank:>4}  {kind:<15}{number:>6}{sent:>15,}")
    return "\n".join(lines)


def last_calls() -> str:
    """Returns what the ranks of the latest `%%ranks` cell called, as a table."""
    calls = latest_calls()
    return calls_text(calls) if calls else "the ranks have called nothing yet: run the cell above"


def booked_by_rank_0() -> float:
    """Returns the bytes booked for rank 0 in the latest `%%ranks` cell."""
    return float(booked_bytes(call for call in latest_calls() if call.rank == 0))


@asks_for_answers
@telling
def own_passes(ranks: int = 4, tokens: int = 32, hidden: int = 64) -> str:
    """Returns what your `parallel_mlp` called in each pass, and whether it is the whole layer.

    Args:
        ranks: on how many it runs.
        tokens, hidden: of the layer, which has four times as many neurons.
    """
    from gpu_course.lessons.tensor_parallel import runs

    given = {"tokens": tokens, "hidden": hidden, "inner": 4 * hidden}
    run = run_own("parallel_mlp", runs.mlp_passes, ranks, **given)
    return _passes_text(run, tokens, hidden)


def _passes_text(run: Run, tokens: int, hidden: int) -> str:
    """Returns what each rank called before a barrier and after it, and whether results agree."""
    lines = [f"{tokens} tokens, {hidden} wide: {8 * tokens * hidden:,} bytes of float64"]
    barrier = {call.rank: call.number for call in run.calls if call.kind == "barrier"}
    for name, later in (("forward", False), ("backward", True)):
        calls = [c for c in run.calls if c.number != barrier[c.rank]]
        own = [c for c in calls if (c.number > barrier[c.rank]) is later]
        lines += ["", name, calls_text(own)]
    same = all(all(each) for each in run.results)
    lines += ["", f"equal to the layer on one rank, gradients too: {'yes' if same else 'no'}"]
    return "\n".join(lines)


@asks_for_answers
@telling
def own_layer(ranks: int = 4, tokens: int = 16, hidden: int = 32, heads: int = 4) -> str:
    """Returns what a layer of the tiny GPT calls in each pass, made of two answers of yours.

    Your `parallel_attention` and your `parallel_mlp`, with the norms and weights of the course's
    own layer between them, and held against that.

    Args:
        ranks: on how many it runs.
        tokens, hidden, heads: of the layer.
    """
    from gpu_course.lessons.tensor_parallel import runs

    given = {"tokens": tokens, "hidden": hidden, "heads": heads}
    run = run_own(["parallel_attention", "parallel_mlp"], runs.layer_passes, ranks, **given)
    return _passes_text(run, tokens, hidden)


@asks_for_answers
@telling
def own_grid(m: int = 64, k: int = 64, n: int = 96) -> Picture:
    """Returns the communication matrix of your `summa` on a grid of 2 x 2.

    Args:
        m, k, n: of the product.
    """
    from gpu_course.lessons.tensor_parallel import runs

    run = run_own("summa", runs.product_of_ones, 4, rows=2, columns=2, m=m, k=k, n=n)
    sent = sent_between(run.calls) or dict(run.socket_bytes or {})
    return Picture(draw_traffic(sent, 4, "your summa, on a grid of 2 x 2"))


def grids_text(ranks: int = 4096) -> str:
    """Returns a table of ways to cut a product: what a rank sends and holds, over a matrix.

    Args:
        ranks: a square and a cube, such as 64 or 4096.
    """
    lines = [f"{'on ' + format(ranks, ',') + ' ranks':<18}{'sent by a rank':>16}{'held':>10}"]
    for name, way in CUTS.items():
        cut = way(ranks)
        lines.append(f"{name:<18}{cut.sent:>16.4f}{cut.held:>10.4f}")
    return "\n".join(lines)


# Rates


def zero_or_cut(
    million_tokens: float = 3.1, gb_per_s: float = 25, teraflops: float = 153
) -> Figure:
    """Returns rates of ZeRO-3 and of cut layers over the GPUs, beside what was published.

    Args:
        million_tokens: of a step, over all GPUs.
        gb_per_s: that reach a GPU from the network.
        teraflops: what a GPU does where it waits for nothing.
    """
    gpus = [64 * 2 ** (k / 4) for k in range(25)]
    tokens = million_tokens * 1e6
    zero = [(n, zero_3_teraflops(n, tokens, teraflops, gb_per_s)) for n in gpus]
    names = ("ZeRO-3", "3D parallelism")
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for row in rows("24_tensor_parallel", "Table 2, days for 300 billion tokens"):
        for name in names:
            if row.what.startswith(f"{name},"):
                point = float(row.arguments["gpus"]), float(row.arguments["teraflops"])
                measured[name].append(point)
    curves = {names[0]: zero, names[1]: [(n, teraflops) for n in gpus]}
    second = f"{million_tokens:g} million tokens in a step, {gb_per_s:g} GB/s to each GPU"
    return draw_rates(curves, measured, "Weights that travel, or activations", second, "TFLOP/s")
