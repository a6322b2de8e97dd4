"""Memory against the papers' formulas and figures, the course's own ranks, and itself."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from gpu_course.errors import CourseError
from gpu_course.isolation import servers
from gpu_course.lessons.optimal_checkpointing.dynamic_program import solve
from gpu_course.measure.activation_formulas import (
    LayerShape,
    end_activation_bytes,
    layer_activation_bytes,
)
from gpu_course.measure.every_axis import parts
from gpu_course.measure.every_axis.configuration import Configuration, Shape
from gpu_course.measure.pipelines import orders, rules
from gpu_course.measure.schedules.chain import Chain, Stage
from gpu_course.measure.state_formulas import (
    MEGATRON_ADAM,
    MIXED_ADAM,
    MIXED_ADAM_ACCUMULATING,
)
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.planner.laptop import batch_of, layout_of, model_of
from gpu_course.planner.layout import Batch, Layout, Layouts
from gpu_course.planner.memory import (
    FORMULAS,
    MEGATRON,
    NANOTRON,
    in_flight,
    kept_bytes,
    layer_parts,
    least_recomputing,
    memory,
    parameters_of_stage,
    peak_bytes,
)
from gpu_course.planner.playbook import MODELS
from gpu_course.ranks import runner
from gpu_course.units import GIB
from tests.gpu_course.planner import on_ranks

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)
GPT = Transformer(layers=8, hidden=96, heads=12, vocabulary=160)
LLAMA = Transformer(
    layers=6, hidden=64, heads=8, kv_heads=4, mlp=192, gated=True, vocabulary=96, norm="rms"
)
EXPERTS = Transformer(layers=4, hidden=64, heads=8, mlp=96, experts=6, top_k=2, vocabulary=96)


@pytest.mark.parametrize("tp", [1, 4])
@pytest.mark.parametrize("sequence_parallel", [False, True])
@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
def test_a_gpt_layer_keeps_what_the_paper_says(tp, sequence_parallel, recompute):
    shape = LayerShape(sequence=32, batch=2, hidden=GPT.hidden, heads=GPT.heads)
    right = layer_activation_bytes(
        shape, tensor_parallel=tp, sequence_parallel=sequence_parallel, recompute=recompute
    )
    layout = Layout(
        tp=tp, sequence_parallel=sequence_parallel, recompute=recompute, microbatch=2, flash=False
    )
    found = memory(GPT, layout, Batch(2, 32)).worst.entries["activations"]
    if recompute == "full" and sequence_parallel:
        right /= tp  # the input of a layer is cut as well, which the paper's Table 2 leaves open
    assert found == GPT.layers * right


def test_first_and_last_stage_keep_the_paper_s_ends():
    shape = LayerShape(sequence=32, batch=2, hidden=GPT.hidden, heads=GPT.heads)
    layout = Layout(microbatch=2, flash=False)
    entries = memory(GPT, layout, Batch(2, 32)).worst.entries
    ends = entries["stage ends"] + entries["logits"]
    assert ends == end_activation_bytes(shape, GPT.vocabulary)


# Korthikanti and others 2022, Table 3 and Figures 1 and 7 (digits of calculon's validation.py).
FOUR = {
    "22B": (Transformer(layers=48, hidden=6144, heads=64, vocabulary=51_200), 1, 1, 4, 4),
    "175B": (Transformer(layers=96, hidden=12288, heads=96, vocabulary=51_200), 8, 3, 64, 1),
    "530B": (Transformer(layers=105, hidden=20480, heads=128, vocabulary=51_200), 35, 3, 280, 1),
    "1T": (Transformer(layers=128, hidden=25600, heads=160, vocabulary=51_200), 64, 1, 512, 1),
}
FIGURE_7 = {
    "seq": (66.84, 62.04, 58.31, 58.31),
    "sel": (49.42, 56.53, 62.04, 62.04),
    "seq+sel": (16.18, 18.49, 20.27, 20.27),
    "full": (7.64, 8.71, 9.42, 9.42),
}
FIGURE_1 = {
    "22B": (45.56, 59.25, 9.56),
    "175B": (45.56, 66.84, 12.35),
    "530B": (31.64, 114.02, 23.08),
    "1T": (32.96, 131.25, 26.56),
}


def paper(name, sequence_parallel=False, recompute="none"):
    model, pp, chunks, sequences, microbatch = FOUR[name]
    layout = Layout(
        tp=8, pp=pp, chunks=chunks, schedule="interleaved" if chunks > 1 else "1f1b",
        microbatch=microbatch, sequence_parallel=sequence_parallel, recompute=recompute,
        recipe=MEGATRON_ADAM, flash=False,
    )  # fmt: skip
    return model, memory(model, layout, Batch(sequences, 2048)).stages[0]


@pytest.mark.parametrize("name", FOUR)
@pytest.mark.parametrize("how", FIGURE_7)
def test_figure_7_of_the_paper_within_2_percent(how, name):
    """In percent of tensor parallelism alone; each stage's layers, nothing of the ends."""
    _, plain = paper(name)
    _, found = paper(name, "seq" in how, {"seq": "none", "full": "full"}.get(how, "selective"))
    share = 100 * found.entries["activations"] / plain.entries["activations"]
    assert share == pytest.approx(FIGURE_7[how][list(FOUR).index(name)], rel=0.02)


@pytest.mark.parametrize("name", FIGURE_1)
def test_figure_1_of_the_paper_within_2_percent(name):
    """Parameters and optimizer states of the layers; activations of the first stage, in GiB."""
    states, none, least = FIGURE_1[name]
    model, plain = paper(name)
    _, saved = paper(name, True, "selective")
    entries = plain.entries
    held = entries["parameters"] + entries["gradients"] + entries["optimizer states"]
    table = model.table * MEGATRON_ADAM.bytes_per_parameter / 8
    tables = 2 if FOUR[name][1] == 1 else 1  # the figure counts layers alone
    assert (held - tables * table) / GIB == pytest.approx(states, rel=0.02)
    assert entries["activations"] / GIB == pytest.approx(none, rel=0.02)
    assert saved.entries["activations"] / GIB == pytest.approx(least, rel=0.02)


@pytest.mark.parametrize("model", [GPT, LLAMA, EXPERTS, *MODELS.values()])
@pytest.mark.parametrize(("tp", "pp", "ep"), [(1, 1, 1), (4, 1, 1), (2, 2, 1), (1, 4, 1)])
def test_the_parameters_of_all_gpus_are_the_model_s(model, tp, pp, ep):
    """Norms and routers are on each tensor-parallel rank, and a tied table on both ends."""
    layout = Layout(tp=tp, pp=pp, ep=ep)
    found = sum(
        stage.entries["parameters"] / MIXED_ADAM.weight
        for stage in memory(model, layout, Batch(1, 64)).stages
    )
    counts = model.parts()
    again = counts["norms"] + counts["router"]
    again -= again / tp
    twice = model.table / tp if model.tied and pp > 1 else 0
    assert found == pytest.approx(model.parameters / tp + again + twice, rel=1e-12)


def test_experts_are_dealt_out_and_their_states_cut_over_fewer_ranks():
    one = memory(EXPERTS, Layout(dp=6, zero=1), Batch(6, 64)).worst.entries
    six = memory(EXPERTS, Layout(dp=6, ep=6, zero=1), Batch(6, 64)).worst.entries
    mlps = EXPERTS.layers * EXPERTS.experts * EXPERTS.mlp_weights
    assert one["parameters"] - six["parameters"] == pytest.approx(2 * mlps * 5 / 6)
    # All copies of a state are cut once over the GPUs, with or without expert parallelism.
    assert one["optimizer states"] == pytest.approx(six["optimizer states"])


# Rajbhandari and others 2019, Table 1: GB of 7.5 billion parameters on 64 GPUs.
ZERO = {0: 120.0, 1: 31.4, 2: 16.6, 3: 1.9}


@pytest.mark.parametrize("zero", ZERO)
def test_zero_s_own_table(zero):
    model = Transformer(layers=36, hidden=4096, heads=32, vocabulary=51_200)
    entries = memory(model, Layout(dp=64, zero=zero), Batch(64, 1)).worst.entries
    held = sum(entries[name] for name in ("parameters", "gradients", "optimizer states"))
    scale = 7.5e9 / model.parameters
    assert held * scale / 1e9 == pytest.approx(ZERO[zero], rel=0.02)


def test_nothing_else_changes_with_zero_but_what_is_gathered():
    found = [
        memory(LLAMA, Layout(dp=8, zero=zero), Batch(8, 64)).worst.entries for zero in range(4)
    ]
    same = set(found[0]) - {"parameters", "gradients", "optimizer states", "gathered layers"}
    for entries in found:
        assert {name: entries[name] for name in same} == {name: found[0][name] for name in same}
    assert [entries["gathered layers"] > 0 for entries in found] == [False, False, False, True]


LINES = (
    "one rank", "dp=2", "dp=2 zero3", "tp=2 sp", "tp=4", "cp=2", "pp=2", "ep=2", "ep=4 tp=2",
    "dp=2 tp=2 pp=2", "tp=2 cp=2 pp=2", "cp=2 pp=2 ep=2", "dp=2 zero3 tp=2 pp=2",
)  # fmt: skip


def planned(configuration, shape):
    """Returns for each stage (weights, gradients, states) in bytes."""
    layout = layout_of(configuration, shape)
    found = memory(model_of(shape), layout, batch_of(shape)).stages
    names = ("parameters", "gradients", "optimizer states")
    return [tuple(stage.entries[name] for name in names) for stage in found]


@pytest.mark.parametrize("line", LINES)
def test_bytes_are_those_of_the_course_s_gpt_on_every_rank(line):
    """From the parts of weights that each rank of lesson 29's GPT is given."""
    configuration = Configuration.read("" if line == "one rank" else line)
    shape = Shape()
    weights = parts.drawn(np.random.default_rng(0), shape)
    stages = planned(configuration, shape)
    for rank in range(configuration.ranks):
        place = configuration.mesh.coords(rank)
        own = parts.own_weights(weights, configuration, shape, place)
        sizes = [each.size for each in own.values()]
        if configuration.zero3:
            sizes = [-(-size // configuration.dp) for size in sizes]
        held = 8 * sum(sizes)
        assert stages[place["pp"]] == (held, held, 2 * held)


@NEEDS_RANKS
@pytest.mark.parametrize("line", ["dp=2 zero3 tp=2", "cp=2 pp=2", "ep=2 tp=2 sp"])
def test_bytes_are_those_that_a_step_on_ranks_holds(line):
    configuration = Configuration.read(line)
    stages = planned(configuration, Shape())
    found = runner.run_function(on_ranks.held, configuration.ranks, {"line": line}).results
    assert len(found) == configuration.ranks
    for stage, held in found:
        assert stages[stage] == tuple(held)


SCHEDULES = {
    "gpipe": orders.gpipe,
    "1f1b": orders.one_f_one_b,
    "zb-h1": orders.zb_h1,
    "zb-h2": orders.zb_h2,
}


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize(("ranks", "microbatches"), [(1, 3), (2, 2), (4, 2), (4, 9), (5, 16)])
def test_as_many_are_under_way_as_in_the_order_itself(name, ranks, microbatches):
    """Zero bubble's Table 2 counts the fullest rank for all of them."""
    layout = Layout(pp=ranks, schedule=name)
    found = [in_flight(layout, Batch(microbatches, 8), stage) for stage in range(ranks)]
    right = rules.in_flight(SCHEDULES[name](ranks, microbatches))
    if name.startswith("zb"):
        assert max(found) == max(right) and all(f >= r for f, r in zip(found, right, strict=True))
    else:
        assert found == list(right)


@pytest.mark.parametrize(("ranks", "microbatches", "chunks"), [(2, 4, 2), (4, 8, 3), (3, 3, 2)])
def test_chunks_under_way_are_those_of_the_interleaved_order(ranks, microbatches, chunks):
    layout = Layout(pp=ranks, chunks=chunks, schedule="interleaved")
    found = [in_flight(layout, Batch(microbatches, 8), s) * chunks for s in range(ranks)]
    right = rules.in_flight(orders.interleaved(ranks, microbatches, chunks))
    assert found == pytest.approx(list(right))


def some_layouts():
    rng = np.random.default_rng(7)
    for _ in range(80):
        yield Layout(
            dp=int(rng.choice([1, 2, 6])),
            tp=int(rng.choice([1, 2, 4])),
            pp=int(rng.choice([1, 2, 3, 4])),
            cp=int(rng.choice([1, 2])),
            zero=int(rng.choice([0, 1, 2, 3])),
            sequence_parallel=bool(rng.choice([True, False])),
            recompute=str(rng.choice(["none", "selective", "full", "plan"])),
            recomputed_layers=int(rng.choice([0, 1, 5])),
            microbatch=int(rng.choice([1, 2])),
            schedule=str(rng.choice(["1f1b", "gpipe", "interleaved", "zb-h1", "zb-h2"])),
        )


@pytest.mark.parametrize("footprint", [FORMULAS, NANOTRON, MEGATRON], ids=lambda f: f.name)
@pytest.mark.parametrize("split", ["even", "compute"])
@pytest.mark.parametrize("model", [GPT, LLAMA, EXPERTS])
def test_many_layouts_at_once_take_what_each_takes_alone(model, split, footprint):
    layouts = [
        replace(each, split=split, flash=False, recipe=MIXED_ADAM_ACCUMULATING)
        for each in some_layouts()
    ]
    batch = Batch(24, 64)
    found = peak_bytes(model, Layouts.of(layouts), batch, footprint)
    right = [memory(model, layout, batch, footprint).bytes for layout in layouts]
    np.testing.assert_allclose(found, right, rtol=1e-12)


def test_entries_are_bytes_and_sum_to_the_peak():
    for layout in some_layouts():
        for stage in memory(LLAMA, layout, Batch(24, 64), NANOTRON).stages:
            assert all(value >= 0 for value in stage.entries.values())
            assert stage.bytes == sum(stage.entries.values())


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ({"recompute": "full"}, {"recompute": "selective"}),
        ({"recompute": "selective"}, {"recompute": "none"}),
        ({"zero": 1}, {"zero": 0}),
        ({"zero": 2}, {"zero": 1}),
        ({"zero": 3}, {"zero": 2}),
        ({"microbatch": 1}, {"microbatch": 2}),
        ({"sequence_parallel": True}, {"sequence_parallel": False}),
        ({"keep_gathered": False}, {"keep_gathered": True}),
        ({"schedule": "1f1b"}, {"schedule": "gpipe"}),
        ({"schedule": "1f1b"}, {"schedule": "zb-h2"}),
        ({"tp": 4, "dp": 2}, {"tp": 2, "dp": 4}),
        ({"recompute": "plan", "recomputed_layers": 4}, {"recompute": "plan"}),
        ({"flash": True}, {"flash": False}),
    ],
)
def test_what_is_said_to_save_memory_does(less, more):
    base = {"dp": 4, "tp": 2, "pp": 4, "flash": False}
    model, batch = MODELS["80B"], Batch(256, 4096)
    small = memory(model, Layout(**{**base, **less}), batch).bytes
    assert small < memory(model, Layout(**{**base, **more}), batch).bytes


def test_a_plan_for_all_layers_is_full_recomputing():
    full = memory(LLAMA, Layout(recompute="full"), Batch(4, 64)).worst.entries
    plan = Layout(recompute="plan", recomputed_layers=LLAMA.layers)
    assert memory(LLAMA, plan, Batch(4, 64)).worst.entries == full


def test_a_plan_runs_as_few_layers_again_as_the_best_one_that_there_is():
    """Beaumont's dynamic programme over the same chain: its cost less that of running once."""
    model = Transformer(layers=9, hidden=64, heads=4, vocabulary=96)
    batch, layout = Batch(1, 32), Layout(flash=False)
    found = memory(model, layout, batch)
    kept, inputs = found.worst.entries["activations"], 2 * 32 * model.hidden
    slots = round(kept / model.layers / inputs)  # sizes in whole inputs of a layer
    assert slots * inputs * model.layers == kept
    stage = Stage(
        output_bytes=1, saved_bytes=slots - 1, forward_bytes=1, forward_saving_bytes=slots,
        backward_bytes=0, output_gradient_bytes=0,
    )  # fmt: skip
    solved = solve(Chain((stage,) * model.layers), slots * model.layers)
    seen = set()
    for room in range(slots * model.layers, slots, -1):
        right = solved.best_cost(room) - 3 * model.layers  # a pass forward is 1, one back is 2
        if right >= model.layers:
            break  # some layers would run three times
        limit = found.bytes - kept + room * inputs
        again = least_recomputing(model, layout, batch, limit)
        assert again.recomputed_layers == right, room
        assert peak_bytes(model, again, batch) <= limit
        seen.add(right)
    assert seen == set(range(model.layers))


def test_a_llama_layer_keeps_these_numbers():
    """64 tokens of 64 numbers, 8 heads of 8 and 4 of keys, 192 inside: by hand, in bytes."""
    norms, qkv, out, statistics = 2 * 128, 2 * (64 + 2 * 32), 2 * 64, 4 * 8
    products, gate_and_up, gated, last = 2 * 128, 2 * 384, 2 * 192, 2 * 192
    each = norms + qkv + out + statistics + products + gate_and_up + gated + last
    found = memory(LLAMA, Layout(), Batch(1, 64)).worst.entries["activations"]
    assert found == 64 * each * LLAMA.layers
    scores = memory(LLAMA, Layout(flash=False), Batch(1, 64)).worst.entries["activations"]
    assert scores - found == 64 * LLAMA.layers * (2 * 8 * 64 - statistics)


def test_what_a_program_holds_besides_is_counted_as_it_is_said():
    layout, batch = Layout(dp=2, tp=2, pp=2, microbatch=2), Batch(8, 64)
    tokens, narrow = 2 * 64, 64 * LLAMA.hidden

    def entries(**changes):
        found = memory(LLAMA, layout, batch, replace(FORMULAS, **changes)).stages
        return found[0].entries, found[1].entries

    plain_first, plain_last = entries()
    first, last = entries(gathered_bytes=8)
    assert first["buffers"] == 8 * tokens * LLAMA.hidden and not plain_first["buffers"]
    first, last = entries(edge_bytes=4)
    assert first["stage ends"] == 2 * 4 * narrow
    assert last["stage ends"] - plain_last["stage ends"] == 4 * narrow
    first, last = entries(logit_bytes=12)
    assert last["logits"] == 12 * tokens * LLAMA.vocabulary / 2 and not first["logits"]
    first, last = entries(bucketed=True)
    assert first["gradient buckets"] == first["parameters"] and not plain_first["gradient buckets"]
    first, last = entries(slack=0.1)
    moving = sum(first[name] for name in ("activations", "stage ends", "logits", "buffers"))
    assert first["allocator"] == pytest.approx(0.1 * moving)
    first, last = entries(fixed_bytes=5, context_bytes=7)
    assert first["libraries"] == last["libraries"] == 12


def test_the_peak_moves_to_the_end_of_the_backward_pass_where_gradients_are_larger():
    """One short microbatch: its activations are gone, and the gradients to be added are there."""
    layout = Layout(recipe=MIXED_ADAM_ACCUMULATING)
    small = memory(LLAMA, layout, Batch(1, 1)).worst.entries
    large = memory(LLAMA, layout, Batch(1, 4096)).worst.entries
    sums = 4 * LLAMA.parameters
    assert small["gradients"] == sums + 2 * LLAMA.parameters and not small["activations"]
    assert large["gradients"] == sums and large["activations"] and large["logits"]


def test_a_stage_without_layers_works_on_none():
    model = replace(LLAMA, vocabulary=2400)  # its head is the work of nearly three layers
    layout = Layout(tp=2, pp=3, recompute="full", split="compute")
    stage = memory(model, layout, Batch(4, 64), replace(FORMULAS, gathered_bytes=8)).stages[-1]
    assert not stage.layers and stage.entries["parameters"] and stage.entries["logits"]
    assert not stage.entries["recomputed layer"] and not stage.entries["buffers"]


def test_zero_is_advised_wherever_ranks_hold_the_same():
    for layout, advised in ((Layout(dp=2, cp=2), True), (Layout(cp=2), True), (Layout(), False)):
        words = [each for each, _ in memory(LLAMA, layout, Batch(4, 64)).remedies()]
        assert ("ZeRO-3" in words) == advised


def test_what_no_plan_can_hold_is_said():
    with pytest.raises(CourseError, match="with all layers run again the fullest GPU still takes"):
        least_recomputing(LLAMA, Layout(), Batch(4, 64), 1000)
    assert least_recomputing(LLAMA, Layout(recompute="full"), Batch(4, 64), GIB) == Layout()


def test_context_parallel_ranks_share_tokens_and_gather_keys():
    one = memory(LLAMA, Layout(dp=2), Batch(2, 64)).worst.entries
    two = memory(LLAMA, Layout(dp=1, cp=2), Batch(2, 64)).worst.entries
    assert two["activations"] == one["activations"] / 2
    part = layer_parts(LLAMA, 64, 1, 64)
    assert sum(kept_bytes(each, Layout(tp=2)) for each in part) == one["activations"] / 12
    assert parameters_of_stage(LLAMA, Layout(), 0, False, False) == (0, 0)


def test_it_says_what_binds_and_what_would_change_it():
    layout = Layout(dp=8, tp=8, pp=4, zero=1, microbatch=2, recipe=MIXED_ADAM_ACCUMULATING)
    found = memory(MODELS["80B"], layout, Batch(256, 4096), NANOTRON)
    said = found.says(80 * GIB)
    worst = found.worst
    assert said.startswith(f"Stage {worst.stage} takes {worst.bytes / GIB:.1f} GiB and ")
    name = max(worst.entries, key=worst.entries.get)
    assert name.capitalize() in said and f"{worst.entries[name] / GIB:.1f} GiB" in said
    remedies = list(found.remedies())
    assert remedies and all(other.bytes < found.bytes for _, other in remedies)
    assert all(words in said for words, _ in remedies)
    assert [other.bytes for _, other in remedies] == sorted(o.bytes for _, o in remedies)
    for _, other in remedies:
        assert other.layout.gpus == layout.gpus
    assert "does not fit" in found.says(1 * GIB)


def test_pairs_of_models_and_layouts_that_fit_nowhere_are_still_counted():
    """A bar is drawn of what does not fit, too; and of a microbatch that no batch has."""
    for model, (tp, pp) in itertools.product([LLAMA, EXPERTS], [(16, 1), (1, 16)]):
        assert memory(model, Layout(tp=tp, pp=pp, microbatch=64), Batch(1, 64)).bytes > 0
