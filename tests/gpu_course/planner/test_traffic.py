"""What a GPU sends: on the course's own ranks, in papers, and by itself."""

from collections import Counter
from dataclasses import replace

import pytest

from gpu_course.isolation import servers
from gpu_course.measure.every_axis.configuration import Configuration, Shape
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.planner.laptop import WIRE, batch_of, layout_of, model_of
from gpu_course.planner.layout import Batch, Layout
from gpu_course.planner.traffic import REASONS, Sent, Wire, gathered, reduced, traffic
from gpu_course.ranks import runner
from tests.gpu_course.planner import on_ranks

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)
GPT = Transformer(layers=8, hidden=96, heads=12, vocabulary=192)
EXPERTS = Transformer(layers=4, hidden=64, heads=8, mlp=96, experts=8, top_k=2, vocabulary=96)
KINDS = {
    "send": "send",
    "all_to_all": "all to all",
    "all_reduce": "all-reduce",
    "all_gather": "gather or scatter",
    "reduce_scatter": "gather or scatter",
}


def counted(line):
    """Returns for each rank {kind: (calls, bytes)} of a step on ranks, and each rank's stage."""
    configuration = Configuration.read(line)
    run = runner.run_function(on_ranks.held, configuration.ranks, {"line": line})
    found = [Counter() for _ in range(configuration.ranks)]
    for call in run.calls:
        if call.kind in KINDS:
            found[call.rank][KINDS[call.kind]] += Sent(1, float(call.booked_bytes)).calls
            found[call.rank][KINDS[call.kind] + ", bytes"] += float(call.booked_bytes)
    return found, [stage for stage, _ in run.results]


def planned(line, stage):
    """Returns the same by the planner."""
    configuration, shape = Configuration.read(line), Shape()
    sent = traffic(model_of(shape), layout_of(configuration, shape), batch_of(shape), stage, WIRE)
    by_kind = {
        "send": sent["pipeline"],
        "all to all": sent["experts"],
        "all-reduce": sent["gradients"],
        "gather or scatter": sent["context"] + sent["parameters"],
    }
    by_kind["gather or scatter" if configuration.sp else "all-reduce"] += sent["tensor"]
    found = Counter()
    for kind, each in by_kind.items():
        found[kind] += each.calls
        found[kind + ", bytes"] += each.bytes
    return found


@NEEDS_RANKS
@pytest.mark.parametrize(
    "line",
    [
        "dp=2", "dp=2 zero3", "tp=2", "tp=2 sp", "cp=2", "pp=2", "ep=2", "dp=2 tp=2 sp",
        "dp=2 zero3 tp=2", "cp=2 pp=2", "tp=2 ep=2", "ep=2 pp=2", "tp=2 cp=2 sp",
    ],
)  # fmt: skip
def test_calls_and_bytes_are_those_that_are_counted_on_ranks(line):
    found, stages = counted(line)
    for rank, stage in enumerate(stages):
        right = planned(line, stage)
        assert {k: v for k, v in found[rank].items() if v} == pytest.approx(
            {k: v for k, v in right.items() if v}
        )


def test_zero_s_two_and_three_times_the_parameters():
    """Rajbhandari and others 2019, section 7: in numbers of parameters, for many ranks."""
    model, many = replace(GPT, layers=200), 4096
    numbers = model.parameters
    wire = Wire(gradient_bytes=2)
    for zero, times in {0: 2, 1: 2, 2: 2, 3: 3}.items():
        sent = traffic(model, Layout(dp=many, zero=zero), Batch(many, 64), 0, wire)
        whole = sent["gradients"].bytes + sent["parameters"].bytes
        assert whole / 2 / numbers == pytest.approx(times, rel=0.001)


def test_zero_3_gathers_each_layer_and_both_ends_twice_and_scatters_once():
    batch = Batch(8, 64)
    sent = traffic(GPT, Layout(dp=2, zero=3), batch)["parameters"]
    assert sent.calls == 4 * 3 * (GPT.layers + 2)
    ends = [
        traffic(GPT, Layout(dp=2, pp=4, zero=3), batch, stage)["parameters"].calls
        for stage in range(4)
    ]
    assert ends == [4 * 3 * 3, 4 * 3 * 2, 4 * 3 * 2, 4 * 3 * 3]


def test_sequence_parallelism_sends_as_many_bytes_in_twice_the_calls():
    """Korthikanti and others 2022, section 4.2.2."""
    batch = Batch(8, 64)
    plain = traffic(GPT, Layout(tp=4, sequence_parallel=False), batch)["tensor"]
    kept = traffic(GPT, Layout(tp=4, keep_gathered=True), batch)["tensor"]
    again = traffic(GPT, Layout(tp=4), batch)["tensor"]
    wide = 64 * GPT.hidden * 2
    assert plain.calls == 8 * (4 * 8 + 2 + 3) and kept.calls == 8 * (8 * 8 + 4 + 3)
    assert plain.bytes == pytest.approx(kept.bytes)
    assert again.bytes - kept.bytes == pytest.approx(8 * 2 * 8 * wide * 3 / 4)


@pytest.mark.parametrize(
    ("reason", "model", "layout", "only"),
    [
        ("tensor", GPT, Layout(tp=4), ("tensor", "gradients")),
        ("context", GPT, Layout(cp=2), ("context", "gradients")),
        ("experts", EXPERTS, Layout(dp=4, ep=4), ("experts", "gradients")),
        ("pipeline", GPT, Layout(pp=4), ("pipeline",)),
        ("gradients", GPT, Layout(dp=4), ("gradients",)),
        ("parameters", GPT, Layout(dp=4, zero=1), ("gradients", "parameters")),
        ("parameters", GPT, Layout(dp=4, zero=3), ("parameters",)),
        ("", GPT, Layout(), ()),
    ],
)
def test_an_axis_sends_for_its_own_reason_alone(reason, model, layout, only):
    sent = traffic(model, layout, Batch(8, 64), min(1, layout.pp - 1))
    assert tuple(sent) == REASONS
    assert {name for name, each in sent.items() if each.calls} == set(only)
    assert all((each.bytes > 0) == (each.calls > 0) for each in sent.values())
    assert not reason or reason in only


def test_full_recomputing_sends_the_forward_pass_again():
    batch = Batch(8, 64)
    for layout in (Layout(tp=4, keep_gathered=True), Layout(cp=4), Layout(dp=4, ep=4)):
        model = EXPERTS if layout.ep > 1 else GPT
        once = traffic(model, layout, batch)
        twice = traffic(model, replace(layout, recompute="full"), batch)
        for name in ("tensor", "context", "experts"):
            ends = 8 * 7 if name == "tensor" and layout.tp > 1 else 0
            assert twice[name].calls - ends == pytest.approx(1.5 * (once[name].calls - ends))


def test_stages_in_the_middle_send_both_ways_and_chunks_send_more():
    batch = Batch(8, 64)
    calls = [traffic(GPT, Layout(pp=4), batch, stage)["pipeline"].calls for stage in range(4)]
    assert calls == [8, 16, 16, 8]
    layout = Layout(pp=4, chunks=2, schedule="interleaved")
    chunked = [traffic(GPT, layout, batch, stage)["pipeline"].calls for stage in range(4)]
    assert chunked == [24, 32, 32, 24]


def test_a_tied_table_is_summed_over_the_two_ends():
    tied = replace(GPT, tied=True)
    for stage, more in ((0, True), (1, False), (3, True)):
        found = traffic(tied, Layout(pp=4), Batch(8, 64), stage)["gradients"]
        assert found == (reduced(4 * GPT.table, 2) if more else Sent())


def test_a_rank_alone_sends_nothing():
    for zero in range(4):
        alone = traffic(GPT, Layout(zero=zero), Batch(8, 64))
        assert set(alone.values()) == {Sent()}
    assert gathered(100.0, 1) == reduced(100.0, 1) == Sent()
    assert Sent(1, 2.0) + Sent(3, 4.0) == Sent(4, 6.0) == Sent(2, 3.0).times(2)
