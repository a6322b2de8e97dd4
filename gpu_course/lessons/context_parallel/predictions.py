"""What lesson 25 says once a guess is made."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_course.puzzle.specification import Sealed


def _nearest(choices: Sequence[float], value: float) -> float:
    """Returns the choice that a value is nearest to, as a factor."""
    return min(choices, key=lambda choice: max(choice / value, value / choice))


def _memory(times: float) -> str:
    said = {1: "as much as before", 2: "twice as much", 8: "8 times as much"}
    return said[round(_nearest((1, 2, 8), times))]


PREDICTIONS = {
    "Tokens from which scores cost more than matrices, width 4,096": Sealed(
        "A layer's matrices take 24 h² operations for a token and its scores 4 s h, so the two are "
        "even at s = 6 h. Below that, and most of pre-training lies below it, attention is not "
        "what costs. A wide model meets it later than a narrow one.",
        answer=lambda tokens: round(_nearest((2_000, 8_000, 25_000, 130_000), tokens)),
    ),
    "What a query has to keep of half of its keys": Sealed(
        "A softmax is a weighted mean. Two means can be put together if it is known how much each "
        "of them weighs, and the weight of a part is the sum of its exp(score). The largest score "
        "helps against overflow; it is no weight.",
        answer="mean of the values, sum of weights",
    ),
    "Share of all keys and values that each of 4 ranks sends": Sealed(
        "Every block but one leaves each rank: three quarters. With more ranks it comes near to "
        "all of them, and does not grow beyond; but a rank's own work shrinks with n, so there is "
        "less and less of it to hide the messages behind."
    ),
    "Per cent of the time that rank 0 of 8 computes, causal": Sealed(
        "Half a block, and then seven rounds in which every key it is handed lies in the future. "
        "The last rank never rests. What a rank holds is shared evenly, and what it does is not.",
        answer=lambda share: round(_nearest((1, 7, 25, 50), 100 * share)),
    ),
    "Times the bytes of Ulysses that a ring of 8 sends, heads alike": Sealed(
        "A ring sends 2 (n - 1) / n tensors of the whole sequence, Ulysses 4 (n - 1) / n². The "
        "ratio is n / 2, as long as keys have as many heads as queries. Where eight queries share "
        "a head of keys, look again."
    ),
    "Memory of a GPU: 8 times the tokens, on 8 ranks in place of 1": Sealed(
        "Each GPU holds as many tokens as before, and the blocks that pass by are few. That is "
        "what it is all for: the memory of a GPU no longer says how long a sequence may be.",
        answer=_memory,
    ),
    "Times as long: 8 ranks with 8 times the tokens, and 1 alone": Sealed(
        "Eight times the tokens have 64 times the scores, for eight GPUs. No ring makes that less. "
        "Compare a ring with the time of the whole sequence on one GPU, over eight."
    ),
}
