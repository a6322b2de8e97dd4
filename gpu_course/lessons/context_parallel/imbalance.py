"""Puzzle `imbalance`: who computes how much in a causal ring, and how long all wait."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.context_parallel.pieces import KINDS
from gpu_course.lessons.context_parallel.sequence_layouts import LAYOUTS, bound, work
from gpu_course.puzzle.specification import Case, Debrief, Mistake, PythonPuzzle, Values
from simt.text import count

_SHUFFLED = len(KINDS)
_NAMES = (*KINDS, "dealt out by chance")


def _case(ranks: int, length: int, layout: int, name: str = "", visible: bool = False) -> Case:
    words = name or f"{count(ranks, 'rank')}, {length:,} tokens, {_NAMES[layout]}"
    return Case(words, {"ranks": ranks, "length": length, "layout": layout}, visible)


def _random_case(rng: np.random.Generator) -> Case:
    ranks, layout = int(rng.integers(2, 9)), int(rng.integers(0, len(_NAMES)))
    return _case(ranks, ranks * int(rng.integers(5, 40)) + 1, layout, "sizes drawn at random")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    ranks, length, layout = (case.sizes[name] for name in ("ranks", "length", "layout"))
    if layout == _SHUFFLED:
        ends = np.sort(rng.integers(0, length + 1, ranks - 1))
        places = list(np.split(rng.permutation(length), ends))
    else:
        places = list(LAYOUTS[KINDS[layout]](length, ranks))
    # bound is asked about scores of its own: work need not be right for it.
    scores = rng.integers(1, 100, (ranks, ranks)).tolist()
    calls = {
        "work": ("work", places),
        "share": ("bound", work(places).tolist()),
        "another_share": ("bound", scores),
    }
    return {"calls": calls}


def _reference(inputs: Values, case: Case) -> Values:
    _, places = inputs["calls"]["work"]
    shares = {
        name: bound(np.array(inputs["calls"][name][1])) for name in ("share", "another_share")
    }
    return {"work": work(places).tolist(), **shares}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    found, right = _table(got["work"]), np.array(expected["work"])
    if found is None or found.shape != right.shape:
        return None
    if not np.array_equal(found, right):
        return _of_work(found, inputs["calls"]["work"][1])
    for name in ("share", "another_share"):
        key = _of_share(got[name], np.array(inputs["calls"][name][1]), expected[name])
        if key:
            return key
    return None


def _table(value: Any) -> np.ndarray | None:
    try:
        return np.array(value, dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        return None


def _of_work(found: np.ndarray, places: list[np.ndarray]) -> str | None:
    ranks = len(places)
    sizes = [len(own) for own in places]
    owners = [[(r - t) % ranks for t in range(ranks)] for r in range(ranks)]
    others = [[(r + t) % ranks for t in range(ranks)] for r in range(ranks)]

    def pairs(side: str, who: list[list[int]], strict: bool = False) -> list[list[int]]:
        return [
            [_seen(places[r], places[o], "left" if strict else side) for o in who[r]]
            for r in range(ranks)
        ]

    whole = [[sizes[r] * sizes[o] for o in owners[r]] for r in range(ranks)]
    blocks = [
        [
            sizes[r] * (sizes[r] + 1) // 2 if o == r else sizes[r] * sizes[o] * (o < r)
            for o in owners[r]
        ]
        for r in range(ranks)
    ]
    seen = [[sizes[o] * sizes[r] - _seen(places[r], places[o], "left") for o in owners[r]]
            for r in range(ranks)]  # fmt: skip
    for key, table in (
        ("not-causal", whole),
        ("without-itself", pairs("right", owners, strict=True)),
        ("from-the-right", pairs("right", others)),
        ("by-rank-number", [[int(_seen(places[r], places[o], "right")) for o in range(ranks)]
                            for r in range(ranks)]),
        ("looks-ahead", seen),
        ("by-order-of-ranks", blocks),
    ):  # fmt: skip
        if np.array_equal(found, np.array(table)):
            return key
    return None


def _seen(queries: np.ndarray, keys: np.ndarray, side: str) -> int:
    return int(np.searchsorted(np.sort(keys), queries, side=side).sum())  # type: ignore[call-overload]


def _of_share(got: Any, scores: np.ndarray, right: float) -> str | None:
    if not isinstance(got, int | float) or np.isclose(got, right, rtol=1e-9):
        return None
    ranks, total = len(scores), scores.sum()
    sums, slowest = scores.sum(axis=1), scores.max(axis=0).sum()
    others = {
        "rounds-do-not-wait": total / (ranks * sums.max()),
        "waiting-instead": 1 - right,
        "inverse": 1 / right,
        "not-over-ranks": total / slowest,
        "every-round-as-the-worst": total / (ranks * ranks * scores.max()),
        "least-over-most": sums.min() / sums.max(),
        "mean-of-rounds": float((scores.mean(axis=0) / scores.max(axis=0)).mean()),
        "percent": 100 * right,
    }
    # With few ranks two of them may be the same number.
    return next((k for k, value in others.items() if np.isclose(got, value, rtol=1e-9)), None)


def _call(inputs: Values) -> str:
    calls = inputs["calls"]
    held = ", ".join(str(len(own)) for own in calls["work"][1])
    scores = calls["another_share"][1]
    another = f"; another_share: bound({scores})" if len(scores) <= 3 else ""
    return f"work(places), tokens {held}; share: bound of that{another}"


DEBRIEF = Debrief(
    shows=("work", "share"),
    why=(
        "A round lasts as long as its slowest rank, so the time is the sum over the rounds of the "
        "most that any rank has to do. What all compute, over what they could have computed in "
        "that time, is the share."
    ),
    alternative=(
        "For consecutive tokens it can be done on paper: a block is 1 and a block on the diagonal "
        "one half, so n ranks do n / 2 each on average, and the last one n - 1/2."
    ),
)

IMBALANCE = PythonPuzzle(
    name="25_context_parallel/imbalance",
    title="who waits for whom",
    difficulty="medium",
    minutes=20,
    debrief=DEBRIEF,
    statement=(
        "Count what each rank computes in each round of a causal ring, for any way to deal out "
        "the tokens, and from that the share of their time in which the ranks compute at best."
    ),
    parameters={"work": ("places",), "bound": ("scores",)},
    harness="gpu_course.puzzle.harness.calls",
    cases=(
        _case(2, 4, 0, "visible example", visible=True),
        _case(4, 16, 0),
        _case(8, 800, 0),
        _case(4, 32, 1),
        _case(3, 20, 1),
        _case(4, 33, 2),
        _case(5, 60, _SHUFFLED),
        _case(3, 2, 0, "3 ranks, 2 tokens"),
        _case(1, 6, 0, "one rank"),
        # So many that a look at each pair does not end, and blocks of pairs do not fit.
        _case(4, 524_288, 1, "4 ranks, 524,288 tokens, zigzag"),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-9, 0.0),
    diagnose=_diagnose,
    call=_call,
    diagnoses={
        "memory": (
            "A table of all pairs of two ranks takes more memory than there is. How many keys a "
            "query sees can be told without looking at each of them."
        ),
        "deadline": (
            "Half a million tokens have 270 billion pairs. How many keys a query sees can be told "
            "without looking at each of them: what if the keys were sorted?"
        ),
        "not-causal": "These are all scores of each block. Causal: a query sees no later key.",
        "without-itself": "A query sees its own place as well. How many keys has the first one?",
        "from-the-right": (
            "Round t has the keys of rank r + t here. They come from the left neighbour: whose "
            "are they after one hop?"
        ),
        "by-rank-number": (
            "The second place of your table is the rank that owns the keys. Asked for is the "
            "round in which they are here."
        ),
        "looks-ahead": "These are the keys at a query's place and after it. It sees those before.",
        "by-order-of-ranks": (
            "You count whole blocks by the order of the ranks. That is right for consecutive "
            "tokens alone; places says where each token is."
        ),
        "rounds-do-not-wait": (
            "You take the rank with the most to do in all rounds together. Here every round waits "
            "for its slowest rank, and it need not be the same one each time."
        ),
        "waiting-instead": "That is the share of the time in which ranks wait.",
        "inverse": "That is how many times as long it takes. A share is between 0 and 1.",
        "not-over-ranks": (
            "You divide by the time of one rank. All n ranks are there in that time."
        ),
        "every-round-as-the-worst": (
            "You let every round last as long as the longest of all. Each has a slowest rank of "
            "its own."
        ),
        "least-over-most": "The least over the most says nothing of all those between.",
        "mean-of-rounds": (
            "You average the shares of the rounds. A long round counts for more than a short one."
        ),
        "percent": "That is in per cent. A share is between 0 and 1.",
    },
    hints=(
        "On paper, for 2 ranks of 2 tokens: which queries see which keys, in which round?",
        (
            "For one query and a sorted row of keys, numpy.searchsorted(keys, place, side='right') "
            "says how many it sees; it takes all queries at once."
        ),
        (
            "A round lasts as long as the largest number of its column. The share is the sum of "
            "the whole table over n times the sum of these largest numbers."
        ),
    ),
    equivalent_mutants={
        "work:other-array:return [[int(np.searchsorted(keys[(r - t) % n], keys[r], "
        "side='right').sum()) for t in range(n)] for r in range(n)]": (
            "keys[r] holds the places of rank r in another order, and all of them are summed up."
        ),
        "work:operand-dropped:return [[int(np.searchsorted(keys[r - t], places[r], "
        "side='right').sum()) for t in range(n)] for r in range(n)]": (
            "It is never below -n, and from there on Python counts places from the end."
        ),
    },
    mistakes=(
        Mistake("counts_whole_blocks", "wrong-result", "not-causal"),
        Mistake("leaves_itself_out", "wrong-result", "without-itself"),
        Mistake("takes_keys_from_the_right", "wrong-result", "from-the-right"),
        Mistake("by_owner_of_the_keys", "wrong-result", "by-rank-number"),
        Mistake("looks_ahead", "wrong-result", "looks-ahead"),
        Mistake("looks_at_each_pair", "crash", "memory"),
        Mistake("by_order_of_ranks", "wrong-result", "by-order-of-ranks"),
        Mistake("the_busiest_rank", "wrong-result", "rounds-do-not-wait", "bound"),
        Mistake("share_of_waiting", "wrong-result", "waiting-instead", "bound"),
        Mistake("times_as_long", "wrong-result", "inverse", "bound"),
        Mistake("forgets_the_ranks", "wrong-result", "not-over-ranks", "bound"),
        Mistake("the_worst_round", "wrong-result", "every-round-as-the-worst", "bound"),
        Mistake("least_over_most", "wrong-result", "least-over-most", "bound"),
        Mistake("mean_of_the_rounds", "wrong-result", "mean-of-rounds", "bound"),
        Mistake("in_per_cent", "wrong-result", "percent", "bound"),
    ),
    source=(
        "Brandon and others 2023, Striped Attention, arXiv 2311.09431; zhuzilin, "
        "ring-flash-attention, README"
    ),
)
