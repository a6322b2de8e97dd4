"""What pictures of memory share: kinds that look their own way, and bytes against a limit."""

from __future__ import annotations

from gpu_course.draw.paper.picture import alt_text
from gpu_course.draw.training.memory_ledger import LOOKS, draw_live


def test_every_kind_looks_its_own_way_without_colour() -> None:
    # Two plain ones are told apart by their place: the ground, and the top of the tooth.
    hatches = [look.get("hatch") for look in LOOKS.values()]
    assert len({hatch for hatch in hatches if hatch}) == 3


def test_live_bytes_against_a_limit() -> None:
    parts = {"parameters": 2.0 * 2**30, "activations": 3.0 * 2**30}
    assert "5 GiB fits into 6 GiB" in alt_text(draw_live(parts, 6 * 2**30))
    assert "5 GiB does not fit into 4 GiB" in alt_text(draw_live(parts, 4 * 2**30))
    assert alt_text(draw_live(parts)) == "5 GiB: parameters 2 GiB, activations 3 GiB."
    bars = draw_live(parts).axes[0].patches
    assert [bar.get_width() for bar in bars] == [2, 3]
    sizes = [label.get_fontsize() for label in draw_live(parts).axes[0].get_xticklabels()]
    assert all(size >= 9 for size in sizes)
