"""Puzzle `zigzag_assign`: an early chunk and a late one for each rank, and back again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_course.lessons.context_parallel.sequence_layouts import plain, striped, zigzag
from gpu_course.puzzle.specification import Case, Debrief, Mistake, PythonPuzzle, Values
from simt.text import count


def _case(
    ranks: int, length: int, width: int = 0, name: str = "", visible: bool = False, whole: int = 0
) -> Case:
    words = name or f"{count(ranks, 'rank')}, {count(length, 'token')}"
    sizes = {"ranks": ranks, "length": length, "width": width, "whole": whole}
    return Case(words, sizes, visible)


def _random_case(rng: np.random.Generator) -> Case:
    ranks = int(rng.integers(2, 7))
    length = 2 * ranks * int(rng.integers(2, 6)) + int(rng.integers(1, 2 * ranks))
    return _case(ranks, length, int(rng.integers(0, 4)), "sizes drawn at random")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    ranks, length, width = (case.sizes[name] for name in ("ranks", "length", "width"))
    # No two of them alike, and none where its number would put it.
    shape = (length, width) if width else (length,)
    size = int(np.prod(shape))
    numbers = rng.permutation(4 * size)[:size].reshape(shape)
    whole = numbers if case.sizes["whole"] else numbers / 8.0
    parts = [whole[places] for places in zigzag(length, ranks)]
    return {"parts": parts, "length": length}


def _reference(inputs: Values, case: Case) -> Values:
    ranks, length = case.sizes["ranks"], case.sizes["length"]
    parts = inputs["parts"]
    places = zigzag(length, ranks)
    order = np.argsort(np.concatenate(places), kind="stable")
    return {"places": list(places), "restored": np.concatenate(parts)[order]}


def _same(got: Any, expected: Sequence[np.ndarray]) -> bool:
    if not isinstance(got, list | tuple) or len(got) != len(expected):
        return False
    return all(np.array_equal(g, e) for g, e in zip(got, expected, strict=True))


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    ranks, length = case.sizes["ranks"], case.sizes["length"]
    places = got["places"]
    chunks = np.array_split(np.arange(length), 2 * ranks)
    pairs = [(chunks[r], chunks[2 * ranks - 1 - r]) for r in range(ranks)]
    if not _same(places, expected["places"]):
        for key, wrong in (
            ("consecutive", plain(length, ranks)),
            ("striped", striped(length, ranks)),
            ("late-first", [np.concatenate([late, early]) for early, late in pairs]),
            ("late-backward", [np.concatenate([early, late[::-1]]) for early, late in pairs]),
            ("early-alone", [early for early, _ in pairs]),
            (
                "not-mirrored",
                [np.concatenate([chunks[r], chunks[r + ranks]]) for r in range(ranks)],
            ),
        ):
            if _same(places, wrong):
                return key
        if isinstance(places, list | tuple) and all(np.ndim(each) == 1 for each in places):
            found = np.concatenate([np.asarray(each) for each in places]) if places else places
            if len(np.unique(found)) == len(found) < length:
                return "rest-dropped"
            if len(np.unique(found)) == len(found) == length and len(places) == ranks:
                return "cut-otherwise"
        return None
    parts = inputs["parts"]
    restored = np.asarray(got["restored"])
    if np.array_equal(restored, np.concatenate(parts)):
        return "not-restored"
    forward = np.concatenate(expected["places"])
    if np.array_equal(restored, np.concatenate(parts)[forward]):
        return "there-again"
    if restored.ndim != np.ndim(expected["restored"]):
        return "width-lost"
    return "sorted" if np.array_equal(restored, np.sort(np.concatenate(parts), axis=0)) else None


def _call(inputs: Values) -> str:
    parts, length = inputs["parts"], inputs["length"]
    return f"zigzag({length}, {len(parts)}) and restore(parts, {length})"


DEBRIEF = Debrief(
    shows=("places",),
    why=(
        "An early query sees few keys and a late one sees many. A chunk and its mirror image see "
        "as many together, wherever the chunk lies, so all ranks have equal work."
    ),
    alternative=(
        "To restore, the chunks can also be put together: all early ones from rank 0 on, then all "
        "late ones from the last rank back. With places there is nothing to think about."
    ),
)

ZIGZAG_ASSIGN = PythonPuzzle(
    name="25_context_parallel/zigzag_assign",
    title="an early chunk and a late one",
    difficulty="easy",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "Cut a sequence into 2n chunks and give rank r the chunks r and 2n - 1 - r. Then bring "
        "what the ranks found for their tokens back into the order of the sequence."
    ),
    parameters={"zigzag": ("length", "ranks"), "restore": ("parts", "length")},
    harness="gpu_course.lessons.context_parallel.harness.zigzag_assign",
    cases=(
        _case(3, 12, name="visible example", visible=True),
        _case(2, 11, width=3),
        _case(4, 21),
        _case(3, 4, width=2),
        _case(4, 3, name="more ranks than tokens"),
        _case(1, 5, name="one rank, its two chunks are all there is"),
        _case(3, 17, name="whole numbers", whole=1),
        _case(8, 100, width=2),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    call=_call,
    diagnoses={
        "consecutive": (
            "Each rank has consecutive tokens. That is the cut whose last rank has nearly twice "
            "the mean to do."
        ),
        "striped": (
            "Each rank has every n-th token. That is balanced too, and it is called striped; here "
            "two chunks for each rank are asked for."
        ),
        "late-first": "The two chunks are right, and the early one is asked for first.",
        "late-backward": (
            "The late chunk is in reverse order. Within a chunk the tokens stay as they are."
        ),
        "early-alone": "Each rank has its early chunk and not the late one.",
        "not-mirrored": (
            "Rank r has chunks r and r + n, so the last rank has the later one of each half. "
            "Which chunk would make up for an early one?"
        ),
        "rest-dropped": (
            "Some tokens belong to nobody. 2n need not divide the length; numpy.array_split gives "
            "the first chunks one token more."
        ),
        "cut-otherwise": (
            "Every token belongs to one rank, and the chunks end elsewhere than asked for. "
            "numpy.array_split gives the first chunks one token more."
        ),
        "not-restored": "zigzag is right, and restore leaves the parts behind each other.",
        "there-again": (
            "zigzag is right, and restore goes the same way once more. A token of a part is to be "
            "written to its place, and not read from there."
        ),
        "width-lost": "zigzag is right, and restore gives an array of another number of axes.",
        "sorted": (
            "zigzag is right, and restore sorts what the parts hold. Their places are to be "
            "sorted, whatever is in them."
        ),
    },
    hints=(
        "With 3 ranks there are 6 chunks. Write down which two of them each rank gets.",
        (
            "numpy.array_split(numpy.arange(length), 2 * ranks) gives the places of all chunks, "
            "uneven ones too."
        ),
        "To restore, make an array like the parts and write each part to its rank's places.",
    ),
    equivalent_mutants={
        f"restore:index-earlier:whole = np.empty((length, *parts[{shape}].shape[1:]), "
        f"parts[{kind}].dtype)": "All parts have the same width and dtype."
        for shape, kind in ((0, -1), (-1, 0))
    },
    mistakes=(
        Mistake("consecutive_tokens", "wrong-result", "consecutive"),
        Mistake("every_nth_token", "wrong-result", "striped"),
        Mistake("late_chunk_first", "wrong-result", "late-first"),
        Mistake("late_chunk_backward", "wrong-result", "late-backward"),
        Mistake("early_chunk_alone", "wrong-result", "early-alone"),
        Mistake("second_half_in_order", "wrong-result", "not-mirrored"),
        Mistake("chunks_of_equal_length", "wrong-result", "rest-dropped"),
        Mistake("rest_to_the_last", "wrong-result", "cut-otherwise"),
        Mistake("puts_parts_together", "wrong-result", "not-restored", "restore"),
        Mistake("goes_there_again", "wrong-result", "there-again", "restore"),
        Mistake("sorts_what_they_hold", "wrong-result", "sorted", "restore"),
        Mistake("flattens_the_parts", "wrong-result", "width-lost", "restore"),
    ),
    source="zhuzilin, ring-flash-attention, issue 2; Llama Team 2024, section 3.3.2",
)
