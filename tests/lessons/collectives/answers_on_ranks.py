"""Answers to lesson 21 that people hand in, each the solution with a change."""

from __future__ import annotations

from tests.course.puzzles.answers_on_ranks import IN_FLOAT32, Row

RING_STEP = "pieces[(r - step - 2) % n] += pass_on(r - step - 1, r - step - 2)"
STRAIGHT = '''
    def straight(leave, like):
        """leave[k] to rank k, and what the others send, in turns."""
        arrive = [torch.empty_like(each) for each in like]
        arrive[r] = leave[r]
        works = []
        for turn in range(1, n):
            to, by = (r + turn) % n, (r - turn) % n
            works += [dist.isend(leave[to], to), dist.irecv(arrive[by], by)]
        for work in works:
            work.wait()
        return arrive

    mine = torch.stack(straight(pieces, [pieces[r]] * n)).sum(0)
    return torch.cat(straight([mine] * n, pieces))

    def pass_on('''

ROWS = {
    "pieces straight to their ranks": Row(
        "all_reduce", (("\n    def pass_on(", STRAIGHT),), ("4 ranks, 13",)
    ),
    "a mean, and n times of it": Row(
        "all_reduce", (("return torch.cat(pieces)", "return torch.cat(pieces) / n * n"),)
    ),
    "added in float32, sent in float64": Row(
        "all_reduce",
        ((RING_STEP, RING_STEP + "\n        pieces = [each.float().double() for each in pieces]"),),
        ("3 ranks, 11",),
        IN_FLOAT32,
    ),
    "pieces added in float32": Row(
        "ring_reduce_scatter",
        (("arrives + mine", "(arrives.float() + mine.float()).double()"),),
        ("3 ranks, 11",),
        IN_FLOAT32,
    ),
    "pieces kept in float32": Row(
        "ring_all_gather",
        (("pieces[r] = piece", "pieces[r] = piece.float().double()"),),
        ("3 ranks, 11",),
        IN_FLOAT32,
    ),
    "branches added in float32": Row(
        "double_tree",
        (("total += arrives", "total = (total.float() + arrives.float()).double()"),),
        ("3 ranks, 11",),
        IN_FLOAT32,
    ),
    "nodes added in float32": Row(
        "hierarchical",
        (("piece = mine + swap(", "piece = mine.float().double() + swap("),),
        ("2 nodes of 2, 3 numbers",),
        IN_FLOAT32,
    ),
    "the second half adds into its place": Row(
        "all_reduce",
        (("pieces[(r - step - 1) % n] = pass_on", "pieces[(r - step - 1) % n] += pass_on"),),
        verdict="wrong-result: added-twice",
    ),
    "no NaN": Row(
        "all_reduce",
        (("piece.clone()", "piece.nan_to_num()"),),
        ("infinity and NaN",),
        "wrong-result: partly-wrong",
    ),
}
