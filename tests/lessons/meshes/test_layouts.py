"""What axes send in a step, beside sums for one rank written out, and Llama 3's own statements."""

from __future__ import annotations

import pytest

from gpu_course.lessons.meshes.layouts import (
    AXES,
    EIGHT_BILLION,
    LLAMA_3,
    axes_text,
    far_bytes_of_orders,
    node_bytes_of_orders,
    orders_text,
    sent_on_axes,
)
from gpu_course.measure.meshes import Mesh


def test_parameters_are_those_of_the_names() -> None:
    assert LLAMA_3["main stage"].parameters == pytest.approx(405e9, rel=0.003)
    assert EIGHT_BILLION.parameters == pytest.approx(8.03e9, rel=0.001)


def test_what_a_rank_sends_is_what_its_messages_come_to() -> None:
    run = LLAMA_3["long context"]
    sent = sent_on_axes(run)
    layers, tokens = 126 / 16, 131_072 * 16
    one_sum = 2 * 7 / 8 * (tokens / 16 * 16_384 * 2)
    assert sent["tp"].traffic.sent_bytes == pytest.approx(4 * layers * one_sum)
    # 8 heads of keys and as many of values, 128 wide, are one of each for a rank of tp.
    gathered = 15 / 16 * tokens * (2 * 128 * 2)
    assert sent["cp"].traffic.sent_bytes == pytest.approx(2 * layers * gathered)
    assert sent["pp"].traffic.sent_bytes == pytest.approx(tokens / 16 * 16_384 * 2 / 8)
    own = run.parameters / 128
    assert sent["dp"].traffic.sent_bytes == pytest.approx(7 / 8 * own * (2 + 4))
    assert [axis for axis in AXES if sent[axis].hidden] == ["dp"]


@pytest.mark.parametrize("stage", LLAMA_3)
def test_a_mesh_has_the_gpus_that_the_paper_prints(stage: str) -> None:
    assert Mesh.ordered(AXES, LLAMA_3[stage].sizes).ranks == 16_384
    table = axes_text(LLAMA_3[stage]).splitlines()
    assert len({len(line) for line in table[1:]}) <= 2 and max(map(len, table)) <= 70
    assert table[1].split()[:3] == ["tp", "8", "1"] and "in a node" in table[1]


def test_by_bytes_the_pipeline_is_outermost_and_llama_3_decided_otherwise() -> None:
    ranked = far_bytes_of_orders(LLAMA_3["main stage"])
    cost = {order: size for size, order in ranked}
    assert cost["tp", "dp", "pp"] == ranked[0][0]
    assert ranked[0][0] < cost["tp", "pp", "dp"] < ranked[-1][0] / 100


def test_orders_are_written_down_with_the_worst() -> None:
    ranked = node_bytes_of_orders(EIGHT_BILLION)
    assert [size for size, _ in ranked] == sorted(size for size, _ in ranked)
    text = orders_text(ranked)
    assert len(text.splitlines()) == 1 + len(ranked) == 7
    short = orders_text(far_bytes_of_orders(LLAMA_3["long context"]))
    assert "... 18 more ..." in short and len(short.splitlines()) == 8
