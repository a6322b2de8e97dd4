"""What lesson 14 shows: who shares a cache, its pages after a run, a batch under its roofs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpu_course.errors import CourseError, NotBegun
from gpu_course.grading.answer_file import AnswerProblem
from gpu_course.grading.kernel.answers import read_answer
from gpu_course.hardware.datasheet import device
from gpu_course.lessons.decoding.costs import Cache, Step, step_of
from gpu_course.lessons.decoding.paged import PAGE, refuse_faults, shuffled_table
from gpu_course.lessons.decoding.pictures import (
    Batches,
    Pool,
    Served,
    draw_batches,
    draw_pool,
    draw_served,
    draw_sharing,
)
from gpu_course.lessons.decoding.serving import Request, drawn_requests, first_come, steps_of
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import Note, telling
from gpu_course.notebook.pictures import Picture
from gpu_course.puzzle import KernelPuzzle, index
from gpu_course.units import format_bytes
from simt.simulator import simulate

LLAMA_8B: dict[str, int] = {
    "layers": 32, "hidden": 4096, "heads": 32, "head_size": 128, "mlp": 14336,
    "vocabulary": 128_256,
}  # fmt: skip
"""The shape of Llama 3.1 8B, without its KV heads. Source: its config.json."""
SMALL_KERNELS = 3
"""Of a layer: two norms and a rotation."""
GAP_S = 1.3e-6
"""Between two kernels of a graph on an H100. Source: Spector et al., Look Ma, No Bubbles, 2025."""
MAX_BATCH = 4096


def cache_of(kv_heads: int, bits: int = 16) -> Cache:
    """Returns what a model of the shape of Llama 3.1 8B keeps of a token."""
    shape = LLAMA_8B
    return Cache(shape["layers"], shape["heads"], kv_heads, shape["head_size"], bits)


def matrices_of(kv_heads: int, bits: float = 16) -> list[tuple[int, int, float]]:
    """Returns the matrices that a token is multiplied with: Q, K and V at once, as kernels do it.

    Args:
        kv_heads: of the attention.
        bits: of a weight; the head keeps its 16.
    """
    hidden, mlp = LLAMA_8B["hidden"], LLAMA_8B["mlp"]
    queries = LLAMA_8B["heads"] * LLAMA_8B["head_size"]
    keys = kv_heads * LLAMA_8B["head_size"]
    layer = [
        (hidden, queries + 2 * keys, bits),
        (queries, hidden, bits),
        (hidden, 2 * mlp, bits),
        (mlp, hidden, bits),
    ]
    return LLAMA_8B["layers"] * layer + [(hidden, LLAMA_8B["vocabulary"], 16)]


def weight_bytes(matrices: Sequence[tuple[int, int, float]]) -> float:
    """Returns the bytes of matrices."""
    return sum(inputs * outputs * bits / 8 for inputs, outputs, bits in matrices)


def step_on(
    card: str, batch: int, context: int, kv_heads: int = 8, weight_bits: float = 16,
    cache_bits: int = 16,
) -> Step:  # fmt: skip
    """Returns a decoding step of Llama 3.1 8B by the data sheet of a card.

    Args:
        card: such as "H100".
        batch: sequences.
        context: tokens in the cache of each.
        kv_heads: heads of keys and values; the model has 8.
        weight_bits, cache_bits: bits of a number.

    Raises:
        CourseError: the card's rates are not known.
    """
    peak, bandwidth, _ = _rates(card)
    small = SMALL_KERNELS * LLAMA_8B["layers"] + 2
    matrices, cache = matrices_of(kv_heads, weight_bits), cache_of(kv_heads, cache_bits)
    return step_of(matrices, cache, [context] * batch, peak, bandwidth, small, GAP_S)


def _rates(card: str) -> tuple[float, float, float]:
    """FLOP/s of the tensor cores, bytes/s, and bytes of memory."""
    found = device(card)
    rates = (found.tensor_flop_per_s, found.bandwidth_bytes_per_s, found.memory_bytes)
    if any(each is None for each in rates):
        raise CourseError(f"the data sheet of {card} lacks a rate", "try H100, A100 or RTX 4090")
    peak, bandwidth, memory = (float(each or 0) for each in rates)
    return peak, bandwidth, memory


@telling
def batch_under_roofs(
    card: str = "H100",
    batch: int = 1,
    context: int = 4096,
    kv_heads: int = 8,
    weight_bits: int = 16,
    cache_bits: int = 16,
) -> Picture:
    """Returns tokens/s of Llama 3.1 8B over the batch, by a data sheet.

    Args:
        card: such as "H100".
        batch: sequences of the batch that is marked.
        context: tokens in the cache of each.
        kv_heads: heads of keys and values.
        weight_bits, cache_bits: bits of a number.
    """
    peak, bandwidth, memory = _rates(card)
    matrices, cache = matrices_of(kv_heads, weight_bits), cache_of(kv_heads, cache_bits)
    weights = weight_bytes(matrices)
    own = cache.token_bytes * context
    table = LLAMA_8B["vocabulary"] * LLAMA_8B["hidden"] * 2
    left = max(0.0, memory - weights - table)
    room = min(MAX_BATCH, int(left // own)) if own else MAX_BATCH
    sizes = sorted({2**k for k in range(13)} | {batch, max(1, room)})
    steps = [step_on(card, size, context, kv_heads, weight_bits, cache_bits) for size in sizes]
    flop = 2 * sum(inputs * outputs for inputs, outputs, _ in matrices)
    flop += 4 * cache.layers * cache.heads * cache.head_size * context
    data = Batches(
        name=f"Llama 3.1 8B with {kv_heads} KV heads on {_article(card)} {card}",
        told=(
            f"{context:,} tokens each, weights of {weight_bits} bits, caches of {cache_bits}: "
            f"{format_bytes(own)} a sequence"
        ),
        sizes=sizes,
        steps=steps,
        slope=bandwidth / weights,
        flat=peak / flop,
        caches=bandwidth / own if own else float("inf"),
        room=room,
        marked=batch,
    )
    return Picture(draw_batches(data))


def _article(card: str) -> str:
    return "an" if card[0] in "AHRL" else "a"


SHARED = {"MHA": 8, "GQA": 2, "MQA": 1}
"""Ways to share keys and values among eight heads, by their KV heads."""


def who_shares(heads: int = 8, layers: int = 32, head_size: int = 128) -> Picture:
    """Returns the heads of the queries above those of keys and values, in three ways to share.

    Args:
        heads: of the queries, a multiple of 8.
        layers: how many keep something.
        head_size: numbers in a head.
    """
    caches = [
        (name, Cache(layers, heads, kv_heads * heads // 8, head_size))
        for name, kv_heads in SHARED.items()
    ]
    return Picture(draw_sharing(caches))


# pages

_KV_HEADS, _D = 2, 8
TPB = 64


def kernels_of(name: str, answer: Any = None) -> Mapping[str, Any]:
    """Returns the kernels of an answer to a kernel puzzle.

    Args:
        name: of the puzzle.
        answer: as for `check`; default the learner's own file.

    Raises:
        NotBegun: there is only the stub.
        CourseError: the answer cannot be run.
    """
    puzzle = index.find(name)
    assert isinstance(puzzle, KernelPuzzle)
    try:
        found: Mapping[str, Any] = read_answer(puzzle, answer).kernels
    except AnswerProblem as problem:
        kind = NotBegun if problem.status == "not-started" else CourseError
        raise problem.error(kind) from None
    return found


def appended(lengths: Sequence[int], table: np.ndarray, pages: int, answer: Any = None) -> Pool:
    """Returns the cache after sequences have grown token by token, by a kernel of the learner's.

    Args:
        lengths: tokens of each sequence in the end.
        table: int32 (sequences, most), the pages of each.
        pages: of the cache.
        answer: as for `check`; default the learner's own file.

    Raises:
        CourseError: the table is no good, or the kernel is not.
    """
    refuse_faults(table, np.asarray(lengths), pages)
    kernel = kernels_of("kv_append_paged", answer)["kv_append_paged"]
    launcher = simulate(kernel)
    k_cache = np.full((pages, PAGE, _KV_HEADS, _D), np.nan, np.float32)
    v_cache = k_cache.copy()
    for token in range(max(lengths)):
        rows = [s for s, length in enumerate(lengths) if length > token]
        k = np.empty((len(rows), _KV_HEADS, _D), np.float32)
        k[...] = np.asarray(rows, np.float32)[:, None, None]
        grown = np.full(len(rows), token + 1, np.int32)
        own = np.ascontiguousarray(table[rows])
        grid = len(rows), -(-_KV_HEADS * _D // TPB)
        report = launcher[grid, TPB](k_cache, v_cache, k, k.copy(), own, grown, _KV_HEADS, _D)
        if not report.ok:
            raise CourseError(
                f"token {token}: {report.hazards[0].message}", "see %%puzzle kv_append_paged"
            )
    return _pool(k_cache, lengths, table)


def _pool(k_cache: np.ndarray, lengths: Sequence[int], table: np.ndarray) -> Pool:
    first = k_cache[:, :, 0, 0]
    written = np.where(np.isnan(first), -1, first).astype(int)
    right = np.full(written.shape, -1)
    tables = []
    for sequence, length in enumerate(lengths):
        t = np.arange(length)
        right[table[sequence, t // PAGE], t % PAGE] = sequence
        tables.append(tuple(int(page) for page in table[sequence, : -(-length // PAGE)]))
    wrong = frozenset((int(page), int(slot)) for page, slot in np.argwhere(written != right))
    return Pool(tuple(map(tuple, written.tolist())), tuple(tables), "as your kernel left it", wrong)


@asks_for_answers
@telling
def pages_after(lengths: Sequence[int] = (20, 37, 9), spare: int = 3, seed: int = 0) -> Picture:
    """Returns the pages of a cache after your `kv_append_paged` has written every token.

    Args:
        lengths: tokens of each sequence, at most eight sequences.
        spare: pages that nobody has.
        seed: draws which pages a sequence gets.
    """
    rng = np.random.default_rng(seed)
    table, pages = shuffled_table(rng, list(lengths), spare)
    return Picture(draw_pool(appended(lengths, table, pages)))


@asks_for_answers
@telling
def pages_by_table(
    lengths: Sequence[int], tables: Sequence[Sequence[int]], pages: int = 9
) -> Picture:
    """Returns the same with pages that you hand out yourself; a table that is no good is refused.

    Args:
        lengths: tokens of each sequence.
        tables: for each sequence its pages, in their order.
        pages: of the cache.
    """
    table = np.full((len(tables), max(map(len, tables))), -1, np.int32)
    for sequence, own in enumerate(tables):
        table[sequence, : len(own)] = own
    return Picture(draw_pool(appended(lengths, table, pages)))


# attention


@asks_for_answers
@telling
def beside_sdpa(
    lengths: Sequence[int] = (20, 37, 9), heads: int = 8, kv_heads: int = 2, seed: int = 0,
    answer: Any = None,
) -> Note:  # fmt: skip
    """Returns how far your `decode_attention_gqa` is from PyTorch's attention.

    Args:
        lengths: tokens of each sequence.
        heads, kv_heads: of the queries, and of keys and values.
        seed: draws queries, keys and values, and who has which page.
        answer: as for `check`; default the learner's own file.
    """
    import torch
    from torch.nn import functional

    puzzle = kernels_of("decode_attention_gqa", answer)
    size, split = 32, 4  # D and SPLIT, which the puzzle fixes
    rng = np.random.default_rng(seed)
    table, pages = shuffled_table(rng, list(lengths))
    caches = [np.full((pages, PAGE, kv_heads, size), np.nan, np.float32) for _ in range(2)]
    q = rng.standard_normal((len(lengths), heads, size)).astype(np.float32)
    expected = np.empty_like(q)
    for sequence, length in enumerate(lengths):
        own = rng.standard_normal((2, length, kv_heads, size)).astype(np.float32)
        t = np.arange(length)
        for cache, new in zip(caches, own, strict=True):
            cache[table[sequence, t // PAGE], t % PAGE] = new
        key, value = (torch.from_numpy(each).permute(1, 0, 2)[None] for each in own)
        query = torch.from_numpy(q[sequence])[None, :, None]
        mixed = functional.scaled_dot_product_attention(query, key, value, enable_gqa=True)
        expected[sequence] = mixed[0, :, 0].numpy()
    out = np.full_like(q, np.nan)
    group = heads // kv_heads
    report = simulate(puzzle["decode_attention_gqa"])[(len(lengths), kv_heads), 32 * group * split](
        out, q, *caches, table, np.asarray(lengths, np.int32), np.float32(size**-0.5), group
    )
    if not report.ok:
        raise CourseError(report.hazards[0].message, "see %%puzzle decode_attention_gqa")
    farthest = float(np.abs(out - expected).max())
    same = bool(np.allclose(out, expected, rtol=1e-4, atol=1e-5))
    said = "the same, as far as float32 goes" if same else "not the same"
    return Note(
        f"torch {torch.__version__}: {said}; the largest difference is {farthest:.1e}",
        "right" if same else "wrong",
    )


# batches


def idle_share(card: str, batch: int = 1) -> float:
    """Returns which share of a card's arithmetic idles while weights of 16 bits are read.

    Args:
        card: such as "H100".
        batch: sequences; none has a cache yet.
    """
    peak, bandwidth, _ = _rates(card)
    return max(0.0, 1 - batch * bandwidth / peak)


def weights_of(kv_heads: int, bits: float = 16) -> float:
    """Returns the bytes of all weights of a model of the shape of Llama 3.1 8B.

    Args:
        kv_heads: of the attention.
        bits: of a weight; embedding and head keep their 16.
    """
    table = LLAMA_8B["vocabulary"] * LLAMA_8B["hidden"] * 2
    return weight_bytes(matrices_of(kv_heads, bits)) + table


def padded_share(lengths: Sequence[int], batch: int) -> float:
    """Returns which share of a batch's places holds no token, if each is as long as its longest.

    Args:
        lengths: tokens of each sequence, in the order in which they come.
        batch: sequences of a batch.

    >>> padded_share([3, 1, 2, 2], batch=2)
    0.2
    """
    groups = [lengths[first : first + batch] for first in range(0, len(lengths), batch)]
    places = sum(max(group) * len(group) for group in groups)
    return (places - sum(lengths)) / places


# a server


def in_batches(requests: Sequence[Request], slots: int) -> list[int]:
    """Returns the step in which each request begins, if a batch ends before the next one begins.

    >>> tokens = {"arrives": 0, "prompt": 1}
    >>> in_batches([{**tokens, "output": n} for n in (2, 9, 1)], slots=2)
    [0, 0, 9]
    """
    begins: list[int] = []
    free = 0
    for first in range(0, len(requests), slots):
        group = requests[first : first + slots]
        start = max(free, *(request["arrives"] for request in group))
        begins += [start] * len(group)
        free = start + max(request["output"] for request in group)
    return begins


def _served(name: str, requests: Sequence[Request], begins: Sequence[int], slots: int) -> Served:
    rows: list[list[tuple[int, int, int]]] = [[] for _ in range(slots)]
    for number in sorted(range(len(requests)), key=lambda each: begins[each]):
        first, steps = begins[number], requests[number]["output"]
        free = next(row for row in rows if not row or row[-1][1] + row[-1][2] <= first)
        free.append((number, first, steps))
    tokens = sum(request["output"] for request in requests)
    return Served(name, rows, steps_of(requests, begins), tokens)


def drawn_answers(requests: int = 24, longest: int = 40, seed: int = 0) -> list[dict[str, int]]:
    """Returns requests that are all there at once; most answers are short, and a few are long.

    Args:
        requests: how many.
        longest: tokens of the longest answer, at most.
        seed: draws their lengths.
    """
    rng = np.random.default_rng(seed)
    return drawn_requests(rng, requests, apart=0, longest=longest, prompt=1)


def batch_by_batch(slots: int = 4, requests: int = 24, longest: int = 40) -> Served:
    """Returns how batches are served that wait for their longest request.

    Args:
        slots: requests of a batch.
        requests: how many there are.
        longest: tokens of the longest answer, at most.
    """
    asked = drawn_answers(requests, longest)
    return _served("batch by batch", asked, in_batches(asked, slots), slots)


def two_ways_to_serve(slots: int = 4, requests: int = 24, longest: int = 40) -> Picture:
    """Returns batches that wait for their longest beside slots that are given away at once.

    Args:
        slots: requests of a step.
        requests: how many there are.
        longest: tokens of the longest answer, at most.
    """
    asked = drawn_answers(requests, longest)
    begins = first_come(asked, slots, pages=10**6)
    in_flight = _served("in flight", asked, begins, slots)
    return Picture(draw_served([batch_by_batch(slots, requests, longest), in_flight]))
