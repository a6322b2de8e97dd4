"""Which layouts are legal, what is said of those that are not, and which legal one is nearest."""

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gpu_course.errors import CourseError
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.planner import nearest as nearest_module
from gpu_course.planner.layout import (
    NUMBERS,
    Batch,
    Layout,
    Layouts,
    broken_rules,
    head_stage,
    legal,
    stage_layers,
)
from gpu_course.planner.nearest import check, divisors, nearest

LLAMA = Transformer(
    layers=6, hidden=64, heads=8, kv_heads=4, mlp=192, gated=True, vocabulary=96, norm="rms"
)
EXPERTS = Transformer(layers=4, hidden=64, heads=8, mlp=96, experts=6, top_k=2, vocabulary=96)


def cluster(gpus=8, node=4, link=4e11, network=5e10):
    return SimpleNamespace(
        gpus=gpus,
        gpus_per_node=node,
        memory_bytes=80e9,
        node_link_bytes_per_s=link,
        network_bytes_per_s=network,
    )


ILLEGAL = [
    (LLAMA, Layout(dp=1, tp=16), Batch(16, 64), cluster(16), "heads", "16 ranks do not divide"),
    (LLAMA, Layout(dp=1, tp=8), Batch(16, 64), cluster(8), "heads", "the 4 KV heads"),
    (LLAMA, Layout(dp=1, pp=8), Batch(16, 64), cluster(8), "layers", "of the 6 layers"),
    (LLAMA, Layout(dp=8), Batch(12, 64), cluster(8), "batch", "8 and 16 are"),
    (LLAMA, Layout(dp=8, microbatch=3), Batch(16, 64), cluster(8), "batch", "24 is"),
    (LLAMA, Layout(dp=8, ep=2), Batch(16, 64), cluster(8), "experts", "there are no experts"),
    (EXPERTS, Layout(dp=8, ep=4), Batch(16, 64), cluster(8), "experts", "the 6 experts"),
    (EXPERTS, Layout(dp=8, ep=3), Batch(16, 64), cluster(8), "expert ranks", "dp 8"),
    (LLAMA, Layout(dp=4, cp=2), Batch(16, 63), cluster(8), "tokens", "4 chunks of cp 2"),
    (LLAMA, Layout(dp=2, tp=4), Batch(16, 63), cluster(8), "tokens", "4 parts of sequence"),
    (LLAMA, Layout(dp=3, tp=4), Batch(24, 64), cluster(12, 6), "node", "nodes of 6 GPUs"),
    (LLAMA, Layout(dp=4), Batch(16, 64), cluster(8), "gpus", "takes 4 GPUs"),
    (LLAMA, Layout(dp=8), Batch(16, 64), cluster(8, network=0), "links", "nodes of 4 GPUs"),
    (LLAMA, Layout(dp=4), Batch(16, 64), cluster(4, link=0), "links", "the GPUs of a node"),
    (LLAMA, Layout(dp=4, pp=2, chunks=2), Batch(16, 64), cluster(8), "chunks", "interleaved"),
    (
        LLAMA,
        Layout(dp=4, pp=2, chunks=2, schedule="interleaved"),
        Batch(12, 64),
        cluster(8),
        "groups",
        "groups of pp 2",
    ),
    (LLAMA, Layout(dp=4, pp=2, split=(6, 0)), Batch(16, 64), cluster(8), "layers", "none of them"),
]


@pytest.mark.parametrize(
    ("model", "layout", "batch", "place", "rule", "words"),
    ILLEGAL,
    ids=[f"{rule}: {words}" for *_, rule, words in ILLEGAL],
)
def test_what_is_illegal_is_named_and_the_nearest_plan_is_legal(
    model, layout, batch, place, rule, words
):
    assert words in broken_rules(model, layout, batch, place)[rule]
    near = nearest(model, layout, batch, place)
    with pytest.raises(CourseError) as caught:
        check(model, layout, batch, place)
    assert words in str(caught.value) and str(near) in str(caught.value)
    part = cluster(near.gpus, min(place.gpus_per_node, near.gpus))
    check(model, near, batch, part)


def test_a_legal_layout_is_passed_over_in_silence():
    check(LLAMA, Layout(dp=2, tp=4), Batch(16, 64), cluster(8))
    check(EXPERTS, Layout(dp=6, ep=3), Batch(12, 64), cluster(6, 6))
    check(LLAMA, Layout(dp=4, pp=2, chunks=3, schedule="interleaved"), Batch(16, 64), cluster(8))


@pytest.mark.parametrize(
    ("model", "layout", "batch", "place"),
    [case[:4] for case in ILLEGAL if case[4] != "links"],
    ids=[f"{case[4]}: {case[5]}" for case in ILLEGAL if case[4] != "links"],
)
def test_no_legal_layout_is_nearer(model, layout, batch, place):
    """Brute force over all numbers, scalar rules alone."""
    near = nearest(model, layout, batch, place)
    assert near.gpus == place.gpus
    split = layout.split if isinstance(layout.split, str) else "even"
    wide = [range(1, 17), range(1, 17), range(1, 9), range(1, 9), range(1, 9)]
    for dp, tp, pp, cp, ep in itertools.product(*wide):
        if dp * tp * pp * cp != place.gpus:
            continue
        for microbatch, chunks in itertools.product(range(1, 17), range(1, 4)):
            other = Layout(
                dp=dp, tp=tp, pp=pp, cp=cp, ep=ep, microbatch=microbatch, chunks=chunks,
                schedule=layout.schedule, split=split,
            )  # fmt: skip
            if distance(other, layout) < distance(near, layout):
                assert broken_rules(model, other, batch, place)


def distance(one, other):
    pairs = [(getattr(one, name), getattr(other, name)) for name in NUMBERS]
    changed = sum(a != b for a, b in pairs)
    return changed, round(sum(abs(math.log2(a / b)) for a, b in pairs), 9)


def test_how_many_gpus_the_nearest_plan_takes_is_said_where_some_are_left_over():
    for layout, place, said in (
        (Layout(dp=4), cluster(8), "plan: dp=8"),
        (Layout(dp=13), cluster(13, 16), "plan on 12 GPUs: "),
        (Layout(dp=4), cluster(4, link=0), "plan on 1 GPU: dp=1"),
        (Layout(dp=8, microbatch=3), None, "plan: dp=8 tp=1 pp=1 microbatch=2"),
        (Layout(dp=13), None, "plan on 12 GPUs: dp=4 tp=1 pp=3"),
    ):
        with pytest.raises(CourseError) as caught:
            check(LLAMA, layout, Batch(16, 64), place)
        assert f"the nearest legal {said}" in str(caught.value)


def test_a_layout_is_written_with_what_is_not_plain():
    layout = Layout(dp=2, pp=2, ep=2, zero=1, chunks=3, recompute="full", schedule="interleaved")
    assert str(layout) == "dp=2 tp=1 pp=2 ep=2 zero=1 microbatch=1 chunks=3 recompute=full"
    assert str(Layout()) == "dp=1 tp=1 pp=1 microbatch=1"


def test_stages_that_get_their_layers_by_work_may_not_be_empty():
    """Of six layers and a head of six more, half of eight stages would have neither."""
    model = replace(LLAMA, vocabulary=6 * 768)
    layouts = [Layout(dp=1, pp=pp, split="compute") for pp in (1, 2, 3, 4, 6)]
    found = ["layers" in broken_rules(model, layout, Batch(4, 64)) for layout in layouts]
    for layout, broken in zip(layouts, found, strict=True):
        counts = stage_layers(model, layout.pp, "compute")
        head = head_stage(model, layout.pp, "compute")
        held = [bool(layers) or stage == head for stage, layers in enumerate(counts)]
        assert broken == (not all(held)), counts
    assert set(found) == {True, False}
    many = Layouts.of(layouts)
    assert legal(model, many, Batch(4, 64)).tolist() == [not broken for broken in found]


def test_without_a_network_the_nearest_plan_stays_in_a_node():
    assert nearest(LLAMA, Layout(dp=8), Batch(16, 64), cluster(8, network=0)) == Layout(dp=4)
    assert nearest(LLAMA, Layout(dp=8), Batch(16, 64), cluster(8, link=0)).gpus == 1


def test_where_no_plan_takes_all_gpus_it_takes_the_most_that_one_can():
    """13 ranks divide neither 16 sequences nor 6 layers nor 8 heads nor 64 tokens."""
    near = nearest(LLAMA, Layout(dp=13), Batch(16, 64), cluster(13, 16))
    assert near.gpus == 12


def test_of_plans_as_near_the_one_that_cuts_least_is_said():
    assert nearest(LLAMA, Layout(dp=4), Batch(16, 64), cluster(8)) == Layout(dp=8)


def test_many_layouts_at_once_are_judged_as_each_alone():
    rng = np.random.default_rng(30)
    layouts = [
        Layout(
            dp=int(rng.choice([1, 2, 4, 6])),
            tp=int(rng.choice([1, 2, 3, 4, 8])),
            pp=int(rng.choice([1, 2, 3, 8])),
            cp=int(rng.choice([1, 2, 3])),
            ep=int(rng.choice([1, 2, 3])),
            microbatch=int(rng.choice([1, 2, 5])),
            chunks=int(rng.choice([1, 2])),
            schedule=str(rng.choice(["1f1b", "interleaved"])),
            sequence_parallel=bool(rng.choice([True, False])),
        )
        for _ in range(2000)
    ]
    many = Layouts.of(layouts)
    seen = set()
    for model, place in itertools.product([LLAMA, EXPERTS], [None, cluster(24, 4), cluster(8, 4)]):
        found = legal(model, many, Batch(24, 64), place)
        for index, layout in enumerate(layouts):
            broken = broken_rules(model, layout, Batch(24, 64), place)
            seen |= set(broken)
            assert found[index] == (not broken), (layout, broken)
            assert many.at(index) == layout
    assert seen >= {"gpus", "heads", "layers", "experts", "expert ranks", "batch", "groups"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dp", 0), ("tp", 1.5), ("pp", -1), ("microbatch", True), ("zero", 4),
        ("recompute", "some"), ("schedule", "fast"), ("split", "fair"),
    ],
)  # fmt: skip
def test_a_value_that_is_none_is_refused(field, value):
    with pytest.raises(CourseError, match=field):
        Layout(**{field: value})


def test_stages_have_all_layers_and_the_ends_get_the_odd_ones_last():
    for layers, pp in itertools.product(range(1, 20), range(1, 12)):
        model = Transformer(layers=layers, hidden=8, heads=2, vocabulary=96)
        counts = stage_layers(model, pp)
        assert sum(counts) == layers and len(counts) == pp and max(counts) - min(counts) <= 1
        assert counts[0] == min(counts)
        assert sum(stage_layers(model, pp, "compute")) == layers
    assert stage_layers(LLAMA, 2, (4, 2)) == (4, 2)


def test_the_head_takes_layers_from_the_last_stage_where_work_is_dealt_out():
    """In 1.34B of the Playbook the head is worth four layers of the sixteen: 20 units of work.

    Of four stages the first takes layers until it has more than 5 units: 6. The next until there
    are more than 10, and so on. Of eight each has 2.5; the seventh gets the head, the last nothing.
    """
    model = Transformer(
        layers=16, hidden=2048, heads=32, mlp=8192, gated=True, vocabulary=131072, tied=True
    )
    assert stage_layers(model, 4, "compute") == (6, 5, 5, 0)
    assert head_stage(model, 4, "compute") == 3
    assert stage_layers(model, 8, "compute") == (3, 3, 2, 3, 2, 3, 0, 0)
    assert head_stage(model, 8, "compute") == 6 and head_stage(model, 8) == 7


def test_divisors():
    for number in range(1, 200):
        assert divisors(number) == [each for each in range(1, number + 1) if number % each == 0]


@pytest.mark.parametrize("model", [LLAMA, EXPERTS, replace(LLAMA, layers=5)])
@pytest.mark.parametrize("batch", [Batch(16, 64), Batch(12, 64), Batch(7, 60), Batch(1, 1)])
@pytest.mark.parametrize("per_node", [1, 4, 8, 6])
def test_the_most_gpus_are_those_that_a_walk_over_all_numbers_finds(model, batch, per_node):
    """Brute force: every number of GPUs, and on it every number on every axis."""
    for gpus in (1, 5, 13, 24, 37):
        place = cluster(gpus, per_node)
        near = nearest(model, Layout(dp=gpus), batch, place)
        right = next(
            many
            for many in range(gpus, 0, -1)
            if (many <= per_node or many % per_node == 0)
            and _has_a_legal_layout(model, batch, cluster(many, per_node))
        )
        assert near.gpus == right


def _has_a_legal_layout(model, batch, place):
    axes = divisors(place.gpus)
    return any(
        not broken_rules(model, Layout(dp=dp, tp=tp, pp=pp, cp=cp), batch, place)
        for dp, tp, pp, cp in itertools.product(axes, repeat=4)
        if dp * tp * pp * cp == place.gpus
    )


def test_of_a_million_gpus_few_numbers_are_tried(monkeypatch):
    tried = []
    candidates = nearest_module._candidates
    monkeypatch.setattr(
        nearest_module, "_candidates", lambda *args: tried.append(args[-1]) or candidates(*args)
    )
    near = nearest(LLAMA, Layout(dp=999_983), Batch(4096, 8192), cluster(999_983))
    assert len(tried) < 20 and near.gpus == tried[-1] <= 999_983
    # No larger number of whole nodes is a product of what the axes may have.
    assert tried == sorted(tried, reverse=True)
