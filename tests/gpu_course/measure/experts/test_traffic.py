"""Copies of tokens counted link by link."""

from __future__ import annotations

import numpy as np

from gpu_course.measure.experts import traffic


def test_copies_are_those_of_a_walk_from_rank_to_rank() -> None:
    rng = np.random.default_rng(1)
    per_rank, per_node, nodes = 2, 4, 3
    for rank in (0, 5, 11):
        chosen = rng.integers(-1, per_rank * per_node * nodes, (40, 3)).tolist()
        found = [0, 0]
        for row in chosen:
            have = {rank}
            for expert in row:
                goal = expert // per_rank
                if expert < 0:
                    continue
                landing = goal // per_node * per_node + rank % per_node
                if not any(each // per_node == goal // per_node for each in have):
                    have.add(landing)
                    found[1] += 1
                if goal not in have:
                    have.add(goal)
                    found[0] += 1
        assert traffic.copies(chosen, rank, per_rank, per_node) == tuple(found)
