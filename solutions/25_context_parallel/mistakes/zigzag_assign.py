"""Wrong answers to zigzag_assign that people give."""

import numpy as np


def chunks_of(length, ranks):
    """Returns the places of all 2n chunks."""
    return np.array_split(np.arange(length), 2 * ranks)


# wrong-result, consecutive: A sequence is cut into n parts.
def consecutive_tokens(length, ranks):
    return np.array_split(np.arange(length), ranks)


# wrong-result, striped: Deals them out like cards.
def every_nth_token(length, ranks):
    return [np.arange(r, length, ranks) for r in range(ranks)]


# wrong-result, late-first: The expensive chunk comes first.
def late_chunk_first(length, ranks):
    chunks = chunks_of(length, ranks)
    return [np.concatenate([chunks[2 * ranks - 1 - r], chunks[r]]) for r in range(ranks)]


# wrong-result, late-backward: Zigzag: there, and back again.
def late_chunk_backward(length, ranks):
    chunks = chunks_of(length, ranks)
    return [np.concatenate([chunks[r], chunks[2 * ranks - 1 - r][::-1]]) for r in range(ranks)]


# wrong-result, early-alone: One chunk for each rank.
def early_chunk_alone(length, ranks):
    return chunks_of(length, ranks)[:ranks]


# wrong-result, not-mirrored: The first half is dealt out, and then the second half.
def second_half_in_order(length, ranks):
    chunks = chunks_of(length, ranks)
    return [np.concatenate([chunks[r], chunks[r + ranks]]) for r in range(ranks)]


# wrong-result, rest-dropped: Chunks are of equal length.
def chunks_of_equal_length(length, ranks):
    size = length // (2 * ranks)
    chunks = np.arange(2 * ranks * size).reshape(2 * ranks, size)
    return [np.concatenate([chunks[r], chunks[2 * ranks - 1 - r]]) for r in range(ranks)]


# wrong-result, cut-otherwise: What is left over goes to the last chunk.
def rest_to_the_last(length, ranks):
    size = length // (2 * ranks)
    starts = [size * k for k in range(2 * ranks)] + [length]
    chunks = [np.arange(starts[k], starts[k + 1]) for k in range(2 * ranks)]
    return [np.concatenate([chunks[r], chunks[2 * ranks - 1 - r]]) for r in range(ranks)]


def zigzag(length, ranks):
    """Returns what zigzag should."""
    chunks = chunks_of(length, ranks)
    return [np.concatenate([chunks[r], chunks[2 * ranks - 1 - r]]) for r in range(ranks)]


# wrong-result, not-restored, for restore: The parts of all ranks are the whole.
def puts_parts_together(parts, length):
    return np.concatenate(parts)


# wrong-result, there-again, for restore: The places say where things are.
def goes_there_again(parts, length):
    return np.concatenate(parts)[np.concatenate(zigzag(length, len(parts)))]


# wrong-result, sorted, for restore: In order means sorted.
def sorts_what_they_hold(parts, length):
    return np.sort(np.concatenate(parts), axis=0)


# wrong-result, width-lost, for restore: One number for each token.
def flattens_the_parts(parts, length):
    whole = np.empty(length, parts[0].dtype)
    for part, places in zip(parts, zigzag(length, len(parts)), strict=True):
        whole[places] = part if part.ndim == 1 else part[:, 0]
    return whole
