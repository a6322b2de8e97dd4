"""Time of a step against simulated pipelines, counted bytes, limits, and itself."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_course.measure.meshes import Mesh
from gpu_course.measure.pipelines import megatron, orders
from gpu_course.measure.pipelines.timing import Costs, simulate
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.planner.layer_time import layer_time
from gpu_course.planner.layout import Batch, Layout, Layouts, stage_layers
from gpu_course.planner.machines import A100, H100
from gpu_course.planner.programs import MEGATRON, MEGATRON_CORE, NANOTRON
from gpu_course.planner.step_time import in_node, ring_s, step_time

GPT = Transformer(layers=24, hidden=2048, heads=16, vocabulary=51_200)
NO_HEAD = replace(GPT, vocabulary=1)
EXPERTS = replace(GPT, experts=8, top_k=2)
QUIET = replace(MEGATRON, sends_hidden=1.0, gradients_hidden=1e9, update_bytes=0.0)
FAST_HOST = A100.but("no host", host_s=0.0)
SLOW = Layout(dp=4, tp=2, pp=4, microbatch=2, recompute="full", flash=False)
BATCH = Batch(128, 1024)


def total(layout, model=GPT, batch=BATCH, card=A100, program=MEGATRON):
    return float(step_time(model, layout, batch, card, program).total)


def stage_times(model, layout, batch, program=QUIET):
    """Forward and backward of a layer, and of the head, in this planner's own seconds."""
    work = layer_time(model, layout, batch.tokens, FAST_HOST, program)
    one = replace(layout, pp=1, chunks=1, schedule="1f1b")
    head = step_time(model, one, batch, FAST_HOST, program).head / one.microbatches(batch)
    return float(work.forward), float(work.backward), float(head)


# Pipelines


def costs_of(model, layout, batch, counts):
    """What each stage takes: its layers, and on the last one the head, a third of it forward."""
    forward, backward, head = stage_times(model, layout, batch)
    last = len(counts) - 1

    def cost(layer, part):
        return lambda stage: counts[stage] * layer + (stage == last) * part * head

    return Costs(forward=cost(forward, 1 / 3), input=cost(backward, 2 / 3), weight=0.0)


@pytest.mark.parametrize(("pp", "sequences"), [(2, 8), (4, 16), (8, 8), (8, 24)])
def test_stages_alike_take_what_a_simulated_1f1b_takes(pp, sequences):
    layout, batch = Layout(pp=pp, microbatch=1), Batch(sequences, 1024)
    costs = costs_of(NO_HEAD, layout, batch, [NO_HEAD.layers // pp] * pp)
    simulated = simulate(orders.one_f_one_b(pp, sequences), costs).end
    assert total(layout, NO_HEAD, batch, FAST_HOST, QUIET) == pytest.approx(simulated, rel=1e-4)


@pytest.mark.parametrize(("pp", "sequences"), [(4, 16), (5, 20), (7, 28)])
def test_a_head_and_stages_unlike_are_simulated_too(pp, sequences):
    layout, batch = Layout(pp=pp, microbatch=1), Batch(sequences, 1024)
    costs = costs_of(GPT, layout, batch, stage_layers(GPT, pp))
    simulated = simulate(orders.one_f_one_b(pp, sequences), costs).end
    assert total(layout, GPT, batch, FAST_HOST, QUIET) == pytest.approx(simulated, rel=0.02)


@pytest.mark.parametrize("chunks", [2, 3])
def test_chunks_shorten_the_bubble_as_simulated(chunks):
    pp, sequences = 4, 16
    layout = Layout(pp=pp, chunks=chunks, schedule="interleaved")
    batch = Batch(sequences, 1024)
    costs = costs_of(NO_HEAD, layout, batch, [NO_HEAD.layers / pp / chunks] * pp * chunks)
    simulated = simulate(megatron.megatron(pp, sequences, chunks), costs).end
    assert total(layout, NO_HEAD, batch, FAST_HOST, QUIET) == pytest.approx(simulated, rel=1e-3)


@pytest.mark.parametrize(("schedule", "order"), [("zb-h1", orders.zb_h1), ("zb-h2", orders.zb_h2)])
def test_zero_bubble_fills_what_its_orders_fill(schedule, order):
    """Between a rank's first start and its last end, which is what the orders' bubble is of."""
    pp, sequences = 4, 16
    layout, batch = Layout(pp=pp, schedule=schedule), Batch(sequences, 1024)
    forward, backward, _ = stage_times(NO_HEAD, layout, batch)
    each = NO_HEAD.layers / pp
    halves = {"input": each * backward / 2, "weight": each * backward / 2}
    simulated = simulate(order(pp, sequences), Costs(forward=each * forward, **halves)).cost
    found = total(layout, NO_HEAD, batch, FAST_HOST, QUIET)
    assert found == pytest.approx(simulated, rel=0.03)


def test_more_microbatches_thin_the_bubble_out():
    shares = []
    for sequences in (32, 64, 256):
        time = step_time(GPT, SLOW, Batch(sequences, 1024), A100, MEGATRON)
        shares.append(float(time.bubble / time.total))
    assert shares == sorted(shares, reverse=True)


# Parts


LAYOUTS = st.builds(
    lambda tp, pp, dp, microbatch, zero, recompute, flash, spread: Layout(
        tp=tp, pp=pp, dp=dp, microbatch=microbatch, zero=zero, recompute=recompute, flash=flash,
        sequence_parallel=spread,
    ),
    tp=st.sampled_from([1, 2, 4, 8, 16]),
    pp=st.sampled_from([1, 2, 3, 5, 8]),
    dp=st.sampled_from([1, 2, 8, 32]),
    microbatch=st.sampled_from([1, 2, 4]),
    zero=st.sampled_from([0, 1, 2, 3]),
    recompute=st.sampled_from(["none", "selective", "full"]),
    flash=st.booleans(),
    spread=st.booleans(),
)  # fmt: skip


@given(LAYOUTS)
def test_parts_are_not_negative_and_sum_to_the_step(layout):
    batch = Batch(256, 1024)
    time = step_time(GPT, layout, batch, A100, MEGATRON)
    parts = {name: float(part) for name, part in time.parts().items()}
    assert all(np.isfinite(part) and part >= -1e-12 for part in parts.values()), parts
    assert sum(parts.values()) == pytest.approx(float(time.total))


@given(LAYOUTS, st.sampled_from([MEGATRON, MEGATRON_CORE, NANOTRON]))
def test_a_better_machine_is_never_slower(layout, program):
    batch = Batch(256, 1024)
    now = total(layout, GPT, batch, A100, program)
    for name in ("gemm_flop_per_s", "hbm_bytes_per_s", "nvlink_bytes_per_s", "network_bytes_per_s"):
        better = A100.but("better", **{name: 1.5 * getattr(A100, name)})
        assert total(layout, GPT, batch, better, program) <= now * (1 + 1e-12), name
    for name in ("hop_s", "host_s"):
        better = A100.but("better", **{name: 0.5 * getattr(A100, name)})
        assert total(layout, GPT, batch, better, program) <= now * (1 + 1e-12), name


@given(LAYOUTS)
def test_no_step_beats_its_flop(layout):
    """All products at the machine's rate, on all cards, with nothing recomputed, is a floor."""
    batch = Batch(256, 1024)
    flop = GPT.forward_flop(batch.tokens)
    causal = flop["scores"] * (0.5 if layout.flash else 1.0)
    needed = 3 * (sum(flop.values()) - flop["scores"] + causal) * batch.sequences * batch.tokens
    floor = needed / layout.gpus / A100.gemm_flop_per_s
    assert total(layout, GPT, batch) > floor


@given(st.lists(LAYOUTS, min_size=1, max_size=8))
def test_many_at_once_are_each_alone(layouts):
    layouts = [replace(each, flash=False) for each in layouts]
    batch = Batch(256, 1024)
    many = step_time(GPT, Layouts.of(layouts), batch, A100, MEGATRON)
    alone = [total(layout, GPT, batch) for layout in layouts]
    assert np.broadcast_to(many.total, len(layouts)) == pytest.approx(alone)


@pytest.mark.parametrize("split", ["even", "compute"])
def test_splits_of_many_are_those_of_each(split):
    layouts = [Layout(pp=pp, split=split) for pp in (1, 3, 5)]
    many = step_time(GPT, Layouts.of(layouts), Batch(60, 1024), A100, MEGATRON)
    alone = [total(layout, GPT, Batch(60, 1024)) for layout in layouts]
    assert np.asarray(many.total) == pytest.approx(alone)


def test_a_split_that_is_given_is_taken():
    even = total(Layout(pp=4), GPT, BATCH)
    bad = total(Layout(pp=4, split=(3, 3, 3, 15)), GPT, BATCH)
    light_end = total(Layout(pp=4, split=(7, 7, 6, 4)), GPT, BATCH)
    assert light_end < even < bad


# What is sent


def test_a_ring_moves_what_meshes_count():
    """Each rank of an all-gather sends the whole but its own part, over the ring's slowest link."""
    card = A100.but("no latency", hop_s=0.0)
    size = 8e9
    assert ring_s(size, 8, 8, card) == pytest.approx(7 / 8 * size / card.nvlink_bytes_per_s)
    slow = card.but("slow network", network_bytes_per_s=1e9)
    assert ring_s(size, 16, 8, slow) == pytest.approx(15 / 16 * size / 8e9)
    assert ring_s(size, 16, 1, slow) == pytest.approx(15 / 16 * size / 1e9)
    assert ring_s(size, 1, 1, slow) == 0


@pytest.mark.parametrize(("tp", "dp"), [(1, 16), (2, 8), (4, 8), (8, 4), (16, 2)])
def test_members_of_a_group_that_share_a_node_are_counted(tp, dp):
    mesh = Mesh.of(tp=tp, dp=dp)
    group = mesh.group(0, "dp")
    assert int(in_node(dp, tp, A100)) == sum(rank < A100.node for rank in group)
    group = mesh.group(0, "tp")
    assert int(in_node(tp, 1, A100)) == sum(rank < A100.node for rank in group)


def test_zero_sends_two_or_three_times_the_parameters():
    """Rajbhandari's 2, 2 and 3 Psi, on gradients and parameters of one width."""
    card = A100.but("no latency", hop_s=0.0)
    program = replace(MEGATRON, gradient_bytes=2.0)
    sent = {
        zero: float(step_time(GPT, Layout(dp=16, zero=zero), Batch(16, 1024), card, program).data)
        for zero in (0, 1, 3)
    }
    assert sent[1] == pytest.approx(sent[0])
    assert sent[3] == pytest.approx(1.5 * sent[0])


def test_one_card_of_the_network_for_each_member_in_a_node():
    """With TP 8 a data-parallel group has one member to a node, with TP 1 eight."""
    slow = A100.but("slow network", network_bytes_per_s=1e9, hop_s=0.0)
    batch = Batch(64, 1024)
    spread = step_time(GPT, Layout(dp=16, tp=8), batch, slow, MEGATRON)
    near = step_time(GPT, Layout(dp=128, tp=1), Batch(128, 1024), slow, MEGATRON)
    assert float(spread.data) == pytest.approx(float(near.data), rel=0.08)
    # An eighth of the parameters, over an eighth of the cards.


def test_gradients_that_a_backward_pass_hides_cost_nothing():
    hidden = replace(MEGATRON, gradients_hidden=1.0)
    assert float(step_time(GPT, SLOW, BATCH, A100, hidden).data) == 0
    assert float(step_time(GPT, SLOW, BATCH, A100, MEGATRON).data) > 0


def test_tensor_ranks_across_nodes_are_slow():
    inside, across = Layout(dp=2, tp=8), Layout(dp=1, tp=16)
    assert total(across) > 1.5 * total(inside)


def test_experts_send_tokens_and_dense_layers_do_not():
    layout = Layout(dp=8, ep=8)
    assert float(step_time(EXPERTS, layout, BATCH, A100, MEGATRON).experts) > 0
    assert float(step_time(EXPERTS, replace(layout, ep=1), BATCH, A100, MEGATRON).experts) == 0
    assert float(step_time(GPT, Layout(dp=8), BATCH, A100, MEGATRON).experts) == 0


def test_context_ranks_send_keys_and_share_the_rest():
    alone = step_time(GPT, Layout(), Batch(8, 8192), A100, MEGATRON_CORE)
    four = step_time(GPT, Layout(cp=4), Batch(8, 8192), A100, MEGATRON_CORE)
    assert float(four.context) > 0 == float(alone.context)
    assert float(four.compute) == pytest.approx(float(alone.compute) / 4, rel=0.1)


# What runs again, and the host


def test_what_runs_again_costs_its_share():
    """A third of the layers' work in full, a few percent of it selectively."""
    took = {
        each: float(step_time(GPT, replace(SLOW, recompute=each), BATCH, A100, MEGATRON).compute)
        for each in ("none", "selective", "full")
    }
    assert 1.25 < took["full"] / took["none"] < 1.40
    assert 1.01 < took["selective"] / took["none"] < 1.15


def test_a_plan_runs_as_many_layers_again_as_it_says():
    whole = replace(SLOW, recompute="full")
    plan = replace(SLOW, recompute="plan", recomputed_layers=6)
    assert total(plan) == pytest.approx(total(whole))
    none = replace(SLOW, recompute="plan", recomputed_layers=0)
    assert total(none) == pytest.approx(total(replace(SLOW, recompute="none")))
    half = replace(SLOW, recompute="plan", recomputed_layers=3)
    assert total(none) < total(half) < total(whole)


def test_small_layers_wait_for_the_host():
    tiny = Transformer(layers=12, hidden=256, heads=4, vocabulary=1000)
    time = step_time(tiny, Layout(), Batch(8, 256), A100, MEGATRON)
    floor = 8 * 12 * 2 * A100.host_s
    assert float(time.host + time.compute) == pytest.approx(floor)
    large = step_time(GPT, Layout(microbatch=8), Batch(8, 1024), A100, MEGATRON)
    assert float(large.host) == 0


# Shapes


def test_shapes_that_fill_no_tiles_are_slow():
    """BigScience: 14,400 hidden on 8 ranks took 38 % longer than 13,824, with 7 % more FLOP."""
    layout = Layout(tp=8, flash=False, sequence_parallel=False)
    good = Transformer(layers=24, hidden=13_824, heads=72, vocabulary=1000)
    bad = Transformer(layers=24, hidden=14_400, heads=75, vocabulary=1000)
    work = {model.hidden: layer_time(model, layout, 2048, A100, MEGATRON) for model in (good, bad)}
    ratio = (work[14_400].forward + work[14_400].backward) / (
        work[13_824].forward + work[13_824].backward
    )
    assert 1.2 < ratio < 1.5
    assert (14_400 / 13_824) ** 2 < 1.09


def test_heads_that_tensor_cores_cannot_take_are_far_slower():
    layout = Layout(tp=4, flash=False)
    even = Transformer(layers=24, hidden=13_824, heads=64, vocabulary=1000)
    odd = replace(even, heads=128)
    assert odd.hidden // odd.heads == 108
    slow, fast = (
        float(layer_time(model, layout, 2048, A100, MEGATRON).scores) for model in (odd, even)
    )
    assert slow > 4 * fast


def test_a_card_of_less_power_is_slower():
    weak = H100.but("500 W", gemm_flop_per_s=0.9 * H100.gemm_flop_per_s)
    assert total(Layout(), card=weak) > total(Layout(), card=H100)


def test_plain_namespaces_do_for_models_and_layouts():
    """As `known_runs.columns` and `many` make them: a model of arrays, one for each layout."""
    names = ("layers", "hidden", "heads", "queries", "keys", "inside", "gated", "experts", "top_k")
    names += ("vocabulary", "table", "attention_weights", "mlp_weights")
    plain = SimpleNamespace(**{name: getattr(GPT, name) for name in names})
    batch = SimpleNamespace(sequences=128, tokens=1024)
    assert float(step_time(plain, SLOW, batch, A100, MEGATRON).total) == total(SLOW)
