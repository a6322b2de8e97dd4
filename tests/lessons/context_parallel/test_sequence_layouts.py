"""How a sequence is dealt out, against every score looked at one by one."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_course.lessons.context_parallel.sequence_layouts import LAYOUTS, bound, packed_work, work

SIZES = [(1, 5), (2, 4), (3, 10), (4, 16), (4, 3), (5, 23)]


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize(("ranks", "length"), SIZES)
def test_every_token_has_one_rank_and_every_score_one_round(
    name: str, ranks: int, length: int
) -> None:
    places = LAYOUTS[name](length, ranks)
    assert len(places) == ranks
    assert sorted(np.concatenate(places).tolist()) == list(range(length))
    found = [[0] * ranks for _ in range(ranks)]
    owner = {int(at): rank for rank, own in enumerate(places) for at in own}
    for query in range(length):
        for key in range(query + 1):
            found[owner[query]][(owner[query] - owner[key]) % ranks] += 1
    assert work(places).tolist() == found


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_the_bound_of_consecutive_tokens_is_the_one_on_paper(ranks: int) -> None:
    assert bound(work(LAYOUTS["plain"](4096 * ranks, ranks))) == pytest.approx(
        ranks / (2 * ranks - 1), abs=1e-4
    )
    assert bound(work(LAYOUTS["zigzag"](64 * ranks, ranks))) == 1
    assert 0.99 < bound(work(LAYOUTS["striped"](512 * ranks, ranks))) < 1


def test_one_document_is_the_plain_cut() -> None:
    assert packed_work([0, 40], 4).tolist() == work(LAYOUTS["plain"](40, 4)).sum(axis=1).tolist()
