"""What an engine adds to a simulated pipeline: sends that nobody hides, and slower work under load.

The simulation lets a message travel while its sender goes on. Megatron-LM, which the zero bubble
paper's authors run, waits for its sends and receives; and every rank was slower in a full run than
where its parts were timed alone. Both were read off the sixteen open rows of their Table 4.
"""

from __future__ import annotations

from functools import lru_cache

from gpu_course.claims.models import model
from gpu_course.measure.pipelines.closed_forms import Times, interleaved_cost
from gpu_course.measure.pipelines.orders import one_f_one_b, zb_h1, zb_h2
from gpu_course.measure.pipelines.profiles import PROFILES
from gpu_course.measure.pipelines.search import search
from gpu_course.measure.pipelines.timing import Costs, Run, simulate

SENDS = 2
"""Messages of a microbatch that a chunk waits for: one forward, one back."""
SLOWER = {"one node": 0.055, "several nodes": 0.075}
"""How much longer all work takes in a full run than where it was timed alone."""
RANKS_OF_A_NODE = 8
SHORT = 0.03
"""What the simulation is too fast by where microbatches are few and ranks mostly wait."""
LIMITS = {"ZB-1p": 1, "ZB-2p": 2}
ORDERS = {name: name for name in ("1F1B", "1F1B-I", *LIMITS)}
TRIES, SEED = 40, 1
SIZES = {name: name for name in dict.fromkeys(each.split(",")[0] for each in PROFILES)}


def kept(size: str) -> float:
    """Returns the share of a microbatch's activations that W needs, of a model of this size."""
    return next(each.kept for name, each in PROFILES.items() if name.split(",")[0] == size)


@lru_cache(maxsize=64)
def searched(ranks: int, microbatches: int, costs: Costs, share: int) -> Run:
    """Returns the best order that the search finds with so many microbatches of memory a rank."""
    begin = zb_h1 if share == 1 or microbatches < 2 * ranks - 1 else zb_h2
    limit = float(share * ranks)
    first = [begin(ranks, microbatches)]
    return search(ranks, microbatches, costs, limit, TRIES, SEED, first).run


def cost_ms(order: str, size: str, ranks: int, microbatches: int, chunks: int, t: Times) -> float:
    """Returns what an iteration takes by simulation, by formula where chunks are interleaved."""
    if order == "1F1B-I":
        return interleaved_cost(ranks, microbatches, chunks, t)
    costs = Costs(t.forward, t.input, t.weight, t.comm, 1.0, kept(size))
    if order in LIMITS:
        return searched(ranks, microbatches, costs, LIMITS[order]).cost
    return simulate(one_f_one_b(ranks, microbatches), costs).cost


@model(order=ORDERS, size=SIZES)
def engine_samples_per_gpu(
    order: str,
    size: str,
    ranks: float,
    microbatches: float,
    samples: float,
    chunks: float,
    forward_ms: float,
    input_ms: float,
    weight_ms: float,
    message_ms: float,
) -> float:
    """Returns samples per second and GPU, with sends that a rank waits for, and all work slower.

    Args:
        order: one of ORDERS.
        size: of the model, which says what W needs of the memory.
        ranks, microbatches: of the pipeline.
        samples: in a microbatch.
        chunks: of a rank, where it is interleaved.
        forward_ms, input_ms, weight_ms, message_ms: of a rank, and of a message.
    """
    p, m, v = int(ranks), int(microbatches), int(chunks) if order == "1F1B-I" else 1
    t = Times(forward_ms, input_ms, weight_ms, message_ms)
    sends = m * SENDS * v * message_ms
    slower = SLOWER["one node" if p <= RANKS_OF_A_NODE else "several nodes"]
    whole = (cost_ms(order, size, p, m, v, t) + sends) * (1 + slower)
    return 1000 * m * samples / (p * whole)


@model(order=ORDERS, size=SIZES)
def short_samples_per_gpu(
    order: str,
    size: str,
    ranks: float,
    microbatches: float,
    samples: float,
    forward_ms: float,
    input_ms: float,
    weight_ms: float,
    message_ms: float,
) -> float:
    """Returns samples per second and GPU where there are at most as many microbatches as ranks.

    Args:
        order: one of ORDERS.
        size: of the model.
        ranks, microbatches: of the pipeline.
        samples: in a microbatch.
        forward_ms, input_ms, weight_ms, message_ms: of a rank, and of a message.
    """
    t = Times(forward_ms, input_ms, weight_ms, message_ms)
    cost = cost_ms(order, size, int(ranks), int(microbatches), 1, t)
    return (1 - SHORT) * 1000 * microbatches * samples / (ranks * cost)


@model(size=SIZES)
def engine_waiting_for_all(
    size: str,
    ranks: float,
    microbatches: float,
    samples: float,
    forward_ms: float,
    input_ms: float,
    weight_ms: float,
    message_ms: float,
) -> float:
    """Returns samples per second and GPU of ZB-2p where every rank waits before it steps.

    Args:
        size: of the model.
        ranks, microbatches: of the pipeline.
        samples: in a microbatch.
        forward_ms, input_ms, weight_ms, message_ms: of a rank, and of a message.
    """
    given = (size, ranks, microbatches, samples)
    times = (forward_ms, input_ms, weight_ms, message_ms)
    costs = Costs(*times, 1.0, kept(size))
    run = searched(int(ranks), int(microbatches), costs, LIMITS["ZB-2p"])
    rate: float = engine_samples_per_gpu("ZB-2p", *given, 1, *times)
    return rate * run.cost / run.end


def message_of(rate: float, ranks: int, microbatches: int, t: Times) -> float:
    """Returns what a message takes, in the unit of the times, so that 1F1B waits at this rate.

    Its cost grows in a straight line while messages are short beside the work: two points tell it.
    """
    order = one_f_one_b(ranks, microbatches)
    ends = (0.0, t.whole / 50)
    costs = [simulate(order, Costs(t.forward, t.input, t.weight, each)).cost for each in ends]
    wanted = microbatches * t.whole / (1 - rate)
    return ends[1] * (wanted - costs[0]) / (costs[1] - costs[0])


@lru_cache(maxsize=16)
def _zb_v(rate: float, ranks: int, microbatches: int, t: Times) -> tuple[Run, float, float]:
    """Returns ZB-V as it runs, what 1F1B takes, and what a message does."""
    from gpu_course.measure.pipelines.pytorch import pytorch_schedule

    message = message_of(rate, ranks, microbatches, t)
    whole = Costs(t.forward, t.input, t.weight, message)
    half = Costs(t.forward / 2, t.input / 2, t.weight / 2, message)
    run = simulate(pytorch_schedule("ZBVZeroBubble", ranks, microbatches), half)
    return run, simulate(one_f_one_b(ranks, microbatches), whole).cost, message


@model()
def zb_v_rate(
    rate: float, ranks: float, microbatches: float, forward: float, input: float, weight: float
) -> float:
    """Returns the bubble rate of PyTorch's ZB-V, with the message that 1F1B's rate tells.

    Args:
        rate: the bubble rate of 1F1B.
        ranks, microbatches: of the pipeline.
        forward, input, weight: what F, I and W of a rank take, in one unit.
    """
    t = Times(forward, input, weight)
    return _zb_v(rate, int(ranks), int(microbatches), t)[0].bubble_rate


@model()
def zb_v_over_1f1b(
    rate: float, ranks: float, microbatches: float, forward: float, input: float, weight: float
) -> float:
    """Returns the throughput of ZB-V over that of 1F1B: it has twice the sends to wait for.

    Args:
        rate: the bubble rate of 1F1B.
        ranks, microbatches: of the pipeline.
        forward, input, weight: what F, I and W of a rank take, in one unit.
    """
    t = Times(forward, input, weight)
    run, plain, message = _zb_v(rate, int(ranks), int(microbatches), t)
    sends = microbatches * SENDS * message
    return (plain + sends) / (run.cost + 2 * sends)
