"""What a pipeline takes and holds: models for lesson 26, of its orders and of nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpu_course.claims.models import model
from gpu_course.measure.activation_formulas import LayerShape, layer_activation_bytes
from gpu_course.measure.pipelines import orders
from gpu_course.measure.pipelines.actions import Schedule
from gpu_course.measure.pipelines.closed_forms import Times, interleaved_cost
from gpu_course.measure.pipelines.rules import in_flight
from gpu_course.measure.pipelines.timing import Costs, simulate
from gpu_course.measure.state_formulas import MIXED_ADAM
from gpu_course.units import GB, GIB

STATE_BYTES = MIXED_ADAM.bytes_per_parameter
"""Of a parameter, with its gradient and Adam's states, in mixed precision."""
ADAM_FREE_BYTES = 12
"""The same as GPipe counts: parameter, gradient and one accumulator, in float32."""
BACKWARD = 2.0
"""A backward pass, in forward passes."""

Order = Callable[[int, int], Schedule]
ORDERS: Mapping[str, Order] = {"GPipe": orders.gpipe, "1F1B": orders.one_f_one_b}


@model()
def bubble_over_work(ranks: float, microbatches: float, chunks: float) -> float:
    """Returns the time in bubbles over the time at work: (p - 1) / (v m).

    Args:
        ranks, microbatches, chunks: of the pipeline, p, m and v.
    """
    return (ranks - 1) / (chunks * microbatches)


@model(order=ORDERS)
def simulated_rate(
    order: Order,
    ranks: float,
    microbatches: float,
    forward_ms: float,
    input_ms: float,
    weight_ms: float,
    message_ms: float,
) -> float:
    """Returns the share of its time in which a pipeline waits, by following every action.

    Args:
        order: one of ORDERS.
        ranks, microbatches: of the pipeline.
        forward_ms, input_ms, weight_ms, message_ms: what F, I and W take, and a message.
    """
    costs = Costs(forward_ms, input_ms, weight_ms, message_ms)
    return simulate(order(int(ranks), int(microbatches)), costs).bubble_rate


@model()
def interleaved_rate(
    ranks: float,
    microbatches: float,
    chunks: float,
    forward_ms: float,
    input_ms: float,
    weight_ms: float,
    message_ms: float,
) -> float:
    """Returns the share of its time in which the interleaved order waits.

    Args:
        ranks, microbatches, chunks: of the pipeline.
        forward_ms, input_ms, weight_ms, message_ms: of all chunks of a rank, and of a message.
    """
    times = Times(forward_ms, input_ms, weight_ms, message_ms)
    cost = interleaved_cost(int(ranks), int(microbatches), int(chunks), times)
    return (cost - microbatches * times.whole) / cost


@model()
def samples_per_gpu(
    ranks: float,
    microbatches: float,
    samples: float,
    chunks: float,
    forward_ms: float,
    input_ms: float,
    weight_ms: float,
    message_ms: float,
) -> float:
    """Returns samples per second and GPU of a pipeline whose parts were timed one by one.

    Args:
        ranks, microbatches: of the pipeline.
        samples: in a microbatch.
        chunks: of a rank; with 1 it is 1F1B, with more the interleaved order.
        forward_ms, input_ms, weight_ms, message_ms: of a rank, and of a message.
    """
    if chunks > 1:
        times = Times(forward_ms, input_ms, weight_ms, message_ms)
        cost = interleaved_cost(int(ranks), int(microbatches), int(chunks), times)
    else:
        costs = Costs(forward_ms, input_ms, weight_ms, message_ms)
        cost = simulate(orders.one_f_one_b(int(ranks), int(microbatches)), costs).cost
    return microbatches * samples / (ranks * cost / 1000)


@model("memory")
def held_gb(
    ranks: float,
    microbatches: float,
    chunks: float,
    layers: float,
    hidden: float,
    heads: float,
    sequence: float,
    samples: float,
) -> float:
    """Returns what a rank in the middle of a pipeline holds: states, and what is in flight.

    Args:
        ranks, microbatches: of the pipeline.
        chunks: of a rank; with 1 it is 1F1B, with more the interleaved order.
        layers: of a rank, whatever its chunks.
        hidden, heads, sequence: of the model.
        samples: in a microbatch.
    """
    p, m, v = int(ranks), int(microbatches), int(chunks)
    order = orders.interleaved(p, m, v) if v > 1 else orders.one_f_one_b(p, m)
    # The first rank gives a layer's place to the embedding: the second one holds the most.
    passes = in_flight(order)[1] * layers / v
    shape = LayerShape(int(sequence), int(samples), int(hidden), int(heads))
    states = STATE_BYTES * 12 * hidden**2 * layers
    return (states + passes * layer_activation_bytes(shape)) / GB


@model()
def same_rate(measured: float) -> float:
    """Returns what was measured: as many FLOP for a sample, whatever the microbatch.

    Args:
        measured: at another size of the microbatch.
    """
    return measured


@model()
def step_s(ranks: float, microbatches: float, measured_s: float, at_microbatches: float) -> float:
    """Returns what a step takes, as m + p - 1 turns of equal length.

    Args:
        ranks, microbatches: of the pipeline.
        measured_s: what a step took with `at_microbatches`.
        at_microbatches: how many they were.
    """
    turns, were = microbatches + ranks - 1, at_microbatches + ranks - 1
    return measured_s * turns / were


@model()
def teraflops_of_filling(
    ranks: float, microbatches: float, measured: float, at_ranks: float
) -> float:
    """Returns TFLOP/s per GPU where each rank runs at one rate and waits in the bubble.

    Args:
        ranks, microbatches: of the pipeline.
        measured: per GPU on `at_ranks`, with as many microbatches.
        at_ranks: how many they were.
    """
    share = microbatches / (microbatches + ranks - 1)
    was = microbatches / (microbatches + at_ranks - 1)
    return measured * share / was


def speed_up(ranks: float, microbatches: float, recomputed: float) -> float:
    """Returns how much faster a pipeline of equal stages is than one device that keeps all.

    Args:
        ranks, microbatches: of the pipeline.
        recomputed: the share of microbatches whose forward pass is done twice.
    """
    once = 1 + BACKWARD
    return ranks * microbatches / (microbatches + ranks - 1) * once / (once + recomputed)


@model("rate")
def recomputing_speed(ranks: float, microbatches: float) -> float:
    """Returns the speed over one device, where all but the last microbatch are recomputed.

    Args:
        ranks, microbatches: of the pipeline.
    """
    return speed_up(ranks, microbatches, (microbatches - 1) / microbatches)


@model("rate")
def speed_over_two(ranks: float, microbatches: float) -> float:
    """Returns the speed over two ranks with one microbatch: p m / (m + p - 1).

    Two ranks with one microbatch are as fast as one rank.

    Args:
        ranks, microbatches: of the pipeline.
    """
    return speed_up(ranks, microbatches, 0) / speed_up(2, 1, 0)


@model("rate")
def speed_over_as_many(ranks: float, microbatches: float) -> float:
    """Returns the speed over two ranks with as many microbatches.

    Args:
        ranks, microbatches: of the pipeline.
    """
    return speed_up(ranks, microbatches, 0) / speed_up(2, microbatches, 0)


@model("memory")
def states_of_millions_gb(millions: float) -> float:
    """Returns what the parameters take with gradient and accumulator, 12 bytes each.

    Args:
        millions: of parameters.
    """
    return millions * 1e6 * ADAM_FREE_BYTES / GB


@model()
def gib_of_gb(gigabytes: float) -> float:
    """Returns gigabytes in GiB: the same model, as another program holds it.

    Args:
        gigabytes: that the other program holds.
    """
    return gigabytes * GB / GIB
