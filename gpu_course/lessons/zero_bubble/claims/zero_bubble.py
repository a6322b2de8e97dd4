"""What orders of F, I and W take and hold, held against the numbers of the papers."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.lessons.zero_bubble import leaderboard
from gpu_course.measure.pipelines.actions import straight
from gpu_course.measure.pipelines.profiles import PROFILES, Profile
from gpu_course.measure.pipelines.timing import Costs, simulate
from gpu_course.measure.state_formulas import MEGATRON_ADAM, state_bytes
from gpu_course.units import GIGA

ORDERS = {name: name for name in (*leaderboard.BY_HAND, *leaderboard.LIMITS)}
NAMES = {name: name for name in PROFILES}


@model(pipeline=NAMES, order=ORDERS)
def bubble_rate(pipeline: str, order: str) -> float:
    """Returns the bubble rate of an order made by hand, by simulation with measured times."""
    return leaderboard.by_hand(pipeline, order).bubble_rate


@model(pipeline=NAMES, order=ORDERS)
def searched_bubble_rate(pipeline: str, order: str) -> float:
    """Returns the bubble rate of the order our search finds in the memory of a published one."""
    return leaderboard.searched(pipeline, leaderboard.LIMITS[order]).run.bubble_rate


@model(pipeline=NAMES, order=ORDERS)
def bubble_rate_bound(pipeline: str, order: str) -> float:
    """Returns the rate that no order in the memory of a published one goes below."""
    return leaderboard.rate_bound(pipeline, leaderboard.LIMITS[order])


def _cost_ms(pipeline: str, order: str) -> float:
    if order in leaderboard.LIMITS:
        return leaderboard.searched(pipeline, leaderboard.LIMITS[order]).run.cost
    return leaderboard.by_hand(pipeline, order).cost


@model(pipeline=NAMES, order=ORDERS)
def zero_bubble_samples_per_gpu_s(pipeline: str, order: str) -> float:
    """Returns samples/GPU/s: those of an iteration over ranks and the simulated time."""
    return PROFILES[pipeline].samples_per_gpu_s(_cost_ms(pipeline, order))


@model(pipeline=NAMES)
def samples_per_gpu_s_waiting_for_all(pipeline: str, without_waiting: float) -> float:
    """Returns samples/GPU/s of ZB-2p where every rank waits for the last before it steps."""
    run = leaderboard.searched(pipeline, leaderboard.LIMITS["ZB-2p"]).run
    return without_waiting * run.cost / run.end


def _activations_gb(profile: Profile) -> float:
    """Returns what as many microbatches as ranks leave behind on one rank."""
    return profile.ranks * profile.stage_activation_bytes / GIGA


@model("memory", pipeline=NAMES)
def zb_1p_memory_gb(pipeline: str) -> float:
    """Returns GB of a rank: the states of its layers, and the activations of p microbatches."""
    profile = PROFILES[pipeline]
    return state_bytes(profile.stage_parameters, MEGATRON_ADAM) / GIGA + _activations_gb(profile)


@model(pipeline=NAMES)
def zb_2p_memory_gb(pipeline: str, zb_1p: float) -> float:
    """Returns GB of a rank: what ZB-1p needed, and the activations of p microbatches more."""
    return zb_1p + _activations_gb(PROFILES[pipeline])


@model()
def same_flop_of_a_sample(before: float) -> float:
    """Returns samples/GPU/s of another microbatch: the FLOP of a sample are the same."""
    return before


@model()
def bubble_over_that_of_zb_h1(ranks: float, microbatches: float) -> float:
    """Returns the bubble of 1F1B over that of ZB-H1 in time, F, I and W equally long."""
    waits = []
    for order in ("1F1B", "ZB-H1"):
        schedule = leaderboard.BY_HAND[order](int(ranks), int(microbatches))
        run = simulate(schedule, Costs())
        waits.append(run.cost - max(run.busy))
    return waits[0] / waits[1]


@model()
def zb_h2_bubble(ranks: float, microbatches: float) -> float:
    """Returns the bubble rate of ZB-H2, F, I and W equally long."""
    schedule = leaderboard.BY_HAND["ZB-H2"](int(ranks), int(microbatches))
    return simulate(schedule, Costs()).bubble_rate


def _zb_v(ranks: float, microbatches: float) -> tuple[float, float]:
    """Returns the bubble rate of PyTorch's ZB-V, and its peak over that of 1F1B."""
    from gpu_course.measure.pipelines.pytorch import pytorch_schedule

    schedule = pytorch_schedule("ZBVZeroBubble", int(ranks), int(microbatches))
    run = simulate(schedule, Costs(0.5, 0.5, 0.5, 0.0, 0.5, 0.25))
    return run.bubble_rate, max(run.peaks) / ranks


@model()
def zb_v_bubble(ranks: float, microbatches: float) -> float:
    """Returns the bubble rate of ZB-V, F, I and W equally long."""
    return _zb_v(ranks, microbatches)[0]


@model()
def zb_v_memory(ranks: float, microbatches: float) -> float:
    """Returns the peak of ZB-V over that of 1F1B."""
    return _zb_v(ranks, microbatches)[1]


@model()
def copies_of_a_layer(ranks: float) -> float:
    """Returns on how many ranks DualPipe holds each layer: two pipelines run through all ranks."""
    down = straight(int(ranks))
    return len(down + down[::-1]) / len(set(down))
