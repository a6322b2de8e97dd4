"""What lesson 28 shows: flows of tokens, loads in training, layers on ranks, copies of experts."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from gpu_course.lessons.experts.pictures import draw_flow, draw_load
from gpu_course.lessons.experts.replicas import EPLB_EXAMPLE, gpu_loads, over_mean, place
from gpu_course.lessons.experts.routing import Routed, drawn_scores, room_for, route_drawn
from gpu_course.lessons.experts.shapes import MODELS
from gpu_course.measure.experts.routing import best
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import telling
from gpu_course.notebook.own.ranks import own_source, run_own
from gpu_course.notebook.pictures import Picture
from gpu_course.ranks.traffic import booked_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gpu_course.lessons.experts.training import Balance

LESSON = "28_experts"
FLOAT64_BYTES = 8


def parameters_text() -> str:
    """Returns a table of models: all parameters, those of a token, and the share."""
    lines = [f"{'':<17}{'experts':>8}{'for a token':>13}{'all':>9}{'used':>8}{'share':>8}"]
    for name, model in MODELS.items():
        every, used = model.parameters(), model.active(1)
        lines.append(
            f"{name:<17}{model.experts:>8}{model.chosen:>13}{every / 1e9:>8.0f}B"
            f"{used / 1e9:>7.1f}B{100 * used / every:>6.1f} %"
        )
    return "\n".join(lines)


# Tokens on their way


def flow(experts: int = 8, chosen: int = 2, room: float = 1.25, nodes: int = 4) -> Figure:
    """Returns a picture of 64 tokens on 4 nodes, and of the experts that they go to.

    Args:
        experts: how many, a multiple of 4.
        chosen: of each token.
        room: of an expert, as a multiple of an even share.
        nodes: on which a token's experts may lie, at most.
    """
    return draw_flow(route_drawn(64, experts, chosen, 4, nodes, room))


@asks_for_answers
@telling
def own_flow(tokens: int = 64, experts: int = 8, chosen: int = 2, room: float = 1.0) -> Picture:
    """Returns a picture of where your `top_k_route` sends drawn tokens of 4 nodes.

    Args:
        tokens, experts: how many, multiples of 4.
        chosen: experts of a token.
        room: of an expert, as a multiple of an even share.
    """
    from gpu_course.lessons.experts import runs

    capacity = room_for(tokens, experts, chosen, room)
    given = {"tokens": tokens, "experts": experts, "chosen": chosen, "capacity": capacity}
    (found,) = run_own("top_k_route", runs.routes, 1, **given).results
    choices, slots = (np.array(each) for each in found)
    return Picture(draw_flow(Routed(experts, 4, choices, slots >= 0, capacity)))


def dropped_copies(tokens: int = 64, experts: int = 8, chosen: int = 2, room: float = 1.0) -> int:
    """Returns how many copies of the same tokens find no room.

    Args:
        tokens, experts: how many, multiples of 4.
        chosen: experts of a token.
        room: of an expert, as a multiple of an even share.
    """
    return int(route_drawn(tokens, experts, chosen, 4, 4, room).dropped.sum())


# An even load


@asks_for_answers
@telling
def own_load(balances: Mapping[str, Balance]) -> Picture:
    """Returns a picture of how even the load was in runs, and in one that you balanced.

    Args:
        balances: {name: run}, two at most.
    """
    return Picture(draw_load({name: run.over for name, run in _with_own(balances).items()}))


@asks_for_answers
@telling
def own_balance(balances: Mapping[str, Balance]) -> str:
    """Returns a table of runs, and of one that you balanced: the load and the loss at the end.

    Args:
        balances: {name: run}.
    """
    lines = [f"{'the last 100 steps':<22}{'over the mean':>14}{'loss':>8}"]
    for name, run in _with_own(balances).items():
        over = f"{100 * run.over_at_the_end:.0f} %"
        lines.append(f"{name:<22}{over:>14}{run.loss_at_the_end:>8.2f}")
    return "\n".join(lines)


def _with_own(balances: Mapping[str, Balance]) -> dict[str, Balance]:
    return {**balances, "your bias": _own_run(own_source("bias_balance").text)}


@functools.lru_cache(maxsize=1)
def _own_run(text: str) -> Balance:
    """Returns what became of the load in a run of 400 steps; the text of the answer is the key."""
    from gpu_course.lessons.experts import runs
    from gpu_course.lessons.experts.training import Balance

    (found,) = run_own("bias_balance", runs.balanced, 1).results
    return Balance(*found)


# On ranks


@asks_for_answers
@telling
def own_layer(ranks: int = 4, tokens: int = 16, experts: int = 8, width: int = 8) -> str:
    """Returns what your `all_to_all_experts` sends in each pass, and whether the layer is whole.

    Args:
        ranks: on how many it runs, a divisor of the experts.
        tokens: of each rank, with two experts each.
        experts: of all ranks.
        width: of a token.
    """
    from gpu_course.lessons.experts import runs

    given = {"tokens": tokens, "experts": experts, "chosen": 2, "width": width}
    run = run_own("all_to_all_experts", runs.layer_of_experts, ranks, **given)
    barrier = {call.rank: call.number for call in run.calls if call.kind == "barrier"}
    lines = [
        f"a row is {FLOAT64_BYTES * width} bytes",
        f"{'rank':>4}{'rows out':>10}{'rows in':>9}{'forward':>10}{'backward':>10}   bytes sent",
    ]
    leaving = [rows for _, rows in run.results]
    for rank in range(ranks):
        out = sum(leaving[rank]) - leaving[rank][rank]
        into = sum(rows[rank] for rows in leaving) - leaving[rank][rank]
        calls = [call for call in run.calls if call.rank == rank]
        forward = round(booked_bytes(c for c in calls if c.number < barrier[rank]))
        backward = round(booked_bytes(c for c in calls if c.number > barrier[rank]))
        lines.append(f"{rank:>4}{out:>10}{into:>9}{forward:>10,}{backward:>10,}")
    same = all(all(each) for each, _ in run.results)
    lines.append(f"equal to the dense layer, gradients too: {'yes' if same else 'no'}")
    return "\n".join(lines)


# At most so many nodes


def nodes_per_token(tokens: int = 4096, experts: int = 256, chosen: int = 8) -> float:
    """Returns on how many of 8 nodes a token's experts lie on average, if nothing limits them.

    Args:
        tokens, experts: how many.
        chosen: of each token.
    """
    choices = best(drawn_scores(tokens, experts, 0.0), chosen)
    everything = np.ones_like(choices, bool)
    return float(Routed(experts, 8, choices, everything, tokens).nodes_of_tokens.mean())


@asks_for_answers
@telling
def own_limit(tokens: int = 4096, experts: int = 256, chosen: int = 8, nodes: int = 8) -> str:
    """Returns a table of what a limit of nodes saves, with your `limit_nodes`.

    Args:
        tokens: drawn.
        experts, chosen: as DeepSeek-V3 has them.
        nodes: that share the experts.
    """
    from gpu_course.lessons.experts import runs

    limits = [nodes, nodes // 2, nodes // 4]
    given = {"experts": experts, "chosen": chosen, "nodes": nodes, "limits": limits}
    (found,) = run_own("limit_nodes", runs.limited, 1, tokens=tokens, **given).results
    scores = drawn_scores(tokens, experts, 0.0)
    best_scores = np.take_along_axis(scores, best(scores, chosen), 1).sum()
    lines = [f"{'at most':<9}{'nodes of a token':>18}{'rows to others':>16}{'of the scores':>15}"]
    for limit, (experts_of, _, crossing) in zip(limits, found, strict=True):
        choices = np.array(experts_of)
        everything = np.ones_like(choices, bool)
        reached = Routed(experts, nodes, choices, everything, tokens).nodes_of_tokens.mean()
        kept = np.take_along_axis(scores, choices, 1).sum() / best_scores
        lines.append(f"{limit:<9}{reached:>18.2f}{crossing / tokens:>16.2f}{100 * kept:>13.1f} %")
    return "\n".join(lines)


# Copies of busy experts


def printed_places(layer: int) -> str:
    """Returns the places of a layer of EPLB's example, as printed and as ours, GPU by GPU.

    Args:
        layer: 0 or 1.
    """
    e = EPLB_EXAMPLE
    mine = place(e.loads[layer], e.places, e.groups, e.nodes, e.gpus)
    room = e.places // e.gpus
    lines = []
    for name, held in (("printed", e.printed[layer]), ("ours", tuple(mine))):
        gpus = [held[g * room : (g + 1) * room] for g in range(e.gpus)]
        lines.append(f"{name:<9}" + " ".join(f"{a:>2}+{b:<2}" for a, b in gpus))
    return "\n".join(lines)


def copies_text(layer: int = 0) -> str:
    """Returns how even the GPUs' load is, the more places there are for copies.

    Args:
        layer: 0 or 1, of EPLB's example.
    """
    e = EPLB_EXAMPLE
    lines = [f"{'places':>6}{'copies':>8}{'busiest GPU over the mean':>28}"]
    for places in (16, 24, 32):
        held = place(e.loads[layer], places, e.groups, e.nodes, e.gpus)
        over = over_mean(gpu_loads(e.loads[layer], held, e.gpus))
        lines.append(f"{places:>6}{places - len(e.loads[layer]):>8}{100 * over:>26.0f} %")
    return "\n".join(lines)
