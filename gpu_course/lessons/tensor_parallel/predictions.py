"""What lesson 24 says once a guess is made."""

from __future__ import annotations

from gpu_course.puzzle.specification import Sealed


def _how_much_more(ratio: float) -> str:
    said = {0.5: "half as much", 1.1: "a little more", 2.0: "twice as much"}
    return said[min(said, key=lambda each: abs(each - ratio))]


PREDICTIONS = {
    "8 ranks in place of 4. What each of them sends in a pass is": Sealed(
        "The tensor that is summed does not get smaller: it is tokens times width, on every rank. "
        "So with each rank that joins there is less to compute between two sums that take as long "
        "as before. No cut in one direction changes that.",
        answer=_how_much_more,
    ),
    "All-reduces of PyTorch's MLP in both passes, on each rank": Sealed(
        "One for g and one for f. It finds them by itself: the first layer's output is cut in its "
        "columns, the second takes it so, and what comes out is marked as a *partial* sum until "
        "somebody wants the number."
    ),
    "Times as many bytes for gathered logits, 128,256 entries": Sealed(
        "One sixth of the entries, whatever the ranks. In float32 and with 8,192 tokens the logits "
        "are 4.2 GB; three numbers of a token are 98 kB. A loss is small: look for what it really "
        "needs.",
        answer=lambda ratio: min((20, 200, 2_000, 20_000), key=lambda each: abs(each - ratio)),
    ),
    "Times an eighth that each of 8 ranks keeps of a layer of GPT-3": Sealed(
        "Ten of 34 sbh bytes are kept by every rank: the inputs of both norms, the inputs of both "
        "column layers, and two masks. On one rank that is little beside the scores. Once the rest "
        "is cut by eight, it is nearly half."
    ),
    "Times the bytes: all tokens on each rank, said to be Shard(0)": Sealed(
        "Shard(0) says how a tensor lies; it does not cut it. Both ranks' tokens are taken for the "
        "two halves of 16, all are computed, and each rank gets eight of them back. No error: the "
        "work is done twice."
    ),
}
