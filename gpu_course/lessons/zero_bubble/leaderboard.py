"""The orders of a measured pipeline side by side: made by hand, searched, and what none can reach.

`searched` is the course's search. It begins with the best order made by hand, and has a count of
tries that takes about a second at most; what it finds is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from gpu_course.measure.pipelines.actions import Schedule
from gpu_course.measure.pipelines.closed_forms import Times, interleaved_cost
from gpu_course.measure.pipelines.orders import one_f_one_b, zb_h1, zb_h2
from gpu_course.measure.pipelines.profiles import PROFILES, Profile
from gpu_course.measure.pipelines.search import Found, bound, search
from gpu_course.measure.pipelines.timing import Run, simulate

BY_HAND: Mapping[str, Callable[[int, int], Schedule]] = {
    "1F1B": one_f_one_b,
    "ZB-H1": zb_h1,
    "ZB-H2": zb_h2,
}
"""The orders that a rule writes down: ranks, microbatches -> Schedule."""
LIMITS: Mapping[str, int] = {"ZB-1p": 1, "ZB-2p": 2}
"""The published searches -> the memory that they may use, in microbatches for each rank."""
TRIES, SEED = 40, 1


def by_hand(name: str, order: str) -> Run:
    """Returns an order made by hand as it runs on a measured pipeline.

    Args:
        name: a key of PROFILES.
        order: a key of BY_HAND.
    """
    return _by_hand(PROFILES[name], order)


@lru_cache(maxsize=64)
def _by_hand(profile: Profile, order: str) -> Run:
    schedule = BY_HAND[order](profile.ranks, profile.microbatches)
    return simulate(schedule, profile.costs)


def searched(name: str, share: int, kept: float | None = None) -> Found:
    """Returns the best order that the course's search finds.

    Args:
        name: a key of PROFILES.
        share: the memory limit, in microbatches of a stage for each rank: 1 is what 1F1B holds.
        kept: what W needs of a microbatch's activations; default what the model says.
    """
    profile = PROFILES[name]
    return _searched(profile, share, profile.kept if kept is None else kept)


@lru_cache(maxsize=64)
def _searched(profile: Profile, share: int, kept: float) -> Found:
    costs, limit = profile.costs_keeping(kept), float(share * profile.ranks)
    ranks, microbatches = profile.ranks, profile.microbatches
    begin = BY_HAND["ZB-H1" if share == 1 else "ZB-H2"](ranks, microbatches)
    return search(ranks, microbatches, costs, limit, TRIES, SEED, [begin])


def rate_bound(name: str, share: int) -> float:
    """Returns a bubble rate that no order of F, I and W goes below.

    Args:
        name, share: as for `searched`.
    """
    profile = PROFILES[name]
    limit = float(share * profile.ranks)
    return bound(profile.ranks, profile.microbatches, profile.costs, limit)


def interleaved_rate(name: str) -> float:
    """Returns the bubble rate of 1F1B-I with as many chunks as a rank has layers, by formula.

    Args:
        name: a key of PROFILES.
    """
    profile = PROFILES[name]
    times = Times(profile.forward_ms, profile.input_ms, profile.weight_ms, profile.comm_ms)
    cost = interleaved_cost(profile.ranks, profile.microbatches, profile.layers, times)
    return 1 - profile.microbatches * times.whole / cost
