"""The search against brute force by scalar functions, and what it says where nothing fits."""

import itertools

import numpy as np
import pytest

from gpu_course.errors import CourseError
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.planner.cluster import Cluster
from gpu_course.planner.layout import Batch, Layout, broken_rules
from gpu_course.planner.machines import A100
from gpu_course.planner.memory import MEGATRON as FOOTPRINT
from gpu_course.planner.memory import memory
from gpu_course.planner.nearest import check
from gpu_course.planner.programs import MEGATRON_CORE
from gpu_course.planner.search import Space, all_layouts, search
from gpu_course.planner.step_time import step_time
from gpu_course.units import GIB

LLAMA = Transformer(
    layers=6, hidden=512, heads=8, kv_heads=4, mlp=1536, gated=True, vocabulary=960, norm="rms"
)
EXPERTS = Transformer(layers=4, hidden=512, heads=8, mlp=768, experts=6, top_k=2, vocabulary=960)
CASES = {
    "8 GPUs": (LLAMA, Cluster(A100, 8), Batch(16, 256), Space()),
    "16 GPUs, experts": (EXPERTS, Cluster(A100, 16), Batch(48, 256), Space(microbatches=(1, 2))),
    "24 GPUs": (LLAMA, Cluster(A100, 24), Batch(24, 192), Space(zero=(0, 2), chunks=(1, 3))),
    "one GPU": (LLAMA, Cluster(A100, 1), Batch(4, 256), Space()),
    "scores written down": (LLAMA, Cluster(A100, 4), Batch(8, 64), Space(flash=False)),
    "tp of 2 at most": (LLAMA, Cluster(A100, 8), Batch(16, 256), Space(most_tp=2, most_cp=1)),
}


def brute(model, cluster, batch, space):
    """Returns all legal layouts, by scalar rules alone, in whatever order."""
    gpus = cluster.gpus
    found = []
    sides = [range(1, gpus + 1)] * 4
    for dp, tp, pp, cp in itertools.product(*sides):
        if dp * tp * pp * cp != gpus or tp > (space.most_tp or tp) or cp > (space.most_cp or cp):
            continue
        for ep, microbatch, chunks, zero, word in itertools.product(
            range(1, 7), space.microbatches, space.chunks, space.zero, space.recompute
        ):
            if (zero and dp * cp == 1) or (word == "selective" and space.flash):
                continue
            layout = Layout(
                dp=dp, tp=tp, pp=pp, cp=cp, ep=ep, microbatch=microbatch, chunks=chunks,
                schedule="interleaved" if chunks > 1 else "1f1b", zero=zero, recompute=word,
                recipe=space.recipe, flash=space.flash,
            )  # fmt: skip
            if not broken_rules(model, layout, batch, cluster):
                found.append(layout)
    return found


@pytest.mark.parametrize("name", CASES)
def test_it_looks_at_all_legal_layouts_and_each_once(name):
    model, cluster, batch, space = CASES[name]
    layouts = all_layouts(model, cluster, batch, space)
    found = [layouts.at(index) for index in range(len(layouts))]
    right = brute(model, cluster, batch, space)
    assert len(set(found)) == len(found) == len(right)
    assert set(found) == set(right)


@pytest.mark.parametrize("name", CASES)
def test_the_best_and_the_frontier_are_those_of_brute_force(name):
    model, cluster, batch, space = CASES[name]
    layouts = brute(model, cluster, batch, space)
    each = []
    for layout in layouts:
        total = step_time(model, layout, batch, cluster.card, MEGATRON_CORE).total
        each.append((float(total), memory(model, layout, batch, FOOTPRINT).bytes, layout))
    limit = float(np.median([size for _, size, _ in each]))
    small = Cluster(A100.but("small", memory_bytes=limit), cluster.gpus)
    found = search(model, small, batch, space=space)
    fitting = sorted((time, size) for time, size, _ in each if size <= limit)
    assert int(found.fits.sum()) == len(fitting)
    best = found.best(7)
    assert [plan.step_s for plan in best] == pytest.approx([time for time, _ in fitting[:7]])
    for plan in best:
        check(model, plan.layout, batch, cluster)
        assert plan.bytes <= limit
    frontier = found.frontier()
    points = [(plan.step_s, plan.bytes) for plan in frontier]
    for time, size, _ in each:
        assert any(t <= time * (1 + 1e-12) and s <= size * (1 + 1e-12) for t, s in points)
    assert [size for _, size in points] == sorted((s for _, s in points), reverse=True)
    assert [time for time, _ in points] == sorted(time for time, _ in points)
    assert len(set(points)) == len(points)


def test_of_equally_fast_plans_the_smaller_comes_first():
    model, cluster, batch, _ = CASES["8 GPUs"]
    found = search(model, cluster, batch).best(200)
    for one, other in itertools.pairwise(found):
        assert (one.step_s, one.bytes) <= (other.step_s, other.bytes)


def test_what_fits_nowhere_is_told_with_what_would_make_it_fit():
    model, batch = LLAMA, Batch(64, 256)
    need = search(model, Cluster(A100, 8), batch).smallest()
    tight = A100.but("tight", memory_bytes=0.8 * need.bytes)
    with pytest.raises(CourseError) as caught:
        search(model, Cluster(tight, 8), batch)
    said = str(caught.value)
    over = need.bytes - tight.memory_bytes
    assert f"the smallest, {need.layout}, takes {need.bytes / GIB:,.1f} GiB" in said
    assert f"{over / GIB:,.1f} GiB too many" in said
    assert "GPUs of" in said


def test_the_gpus_that_it_names_are_the_fewest_that_hold_it():
    model, batch = Transformer(layers=16, hidden=4096, heads=32, vocabulary=32_000), Batch(64, 256)
    tight = A100.but("tight", memory_bytes=6 * GIB)
    with pytest.raises(CourseError, match="none of") as caught:
        search(model, Cluster(tight, 8), batch)
    said = str(caught.value)
    named = int(said.split(" GPUs with")[0].split()[-1].replace(",", ""))
    assert search(model, Cluster(tight, named), batch).fits.any()
    with pytest.raises(CourseError, match="none of"):
        search(model, Cluster(tight, named // 2), batch)


def test_where_no_layout_is_legal_the_nearest_plan_on_fewer_gpus_is_said():
    with pytest.raises(CourseError, match="the nearest legal plan on 192 GPUs"):
        search(LLAMA, Cluster(A100, 8 * 29), Batch(24, 64))


def test_a_space_that_allows_nothing_is_refused():
    with pytest.raises(CourseError, match="no layout of this space is legal on 8 GPUs"):
        search(LLAMA, Cluster(A100, 8), Batch(16, 64), space=Space(microbatches=(32,)))


@pytest.mark.parametrize(("gpus", "words"), [(12, "8 or 16"), (0, "whole number"), (True, "True")])
def test_a_cluster_has_whole_nodes(gpus, words):
    with pytest.raises(CourseError, match=words):
        Cluster(A100, gpus)


def test_a_cluster_without_a_network_ends_at_a_node():
    with pytest.raises(CourseError, match="no link joins nodes of 8 GPUs"):
        search(LLAMA, Cluster(A100.but("alone", network_bytes_per_s=0.0), 16), Batch(16, 64))
