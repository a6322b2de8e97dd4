"""Wrong answers to attention_share that people give."""

import math


def _refuse(heads, kv_heads, sequence):
    if sequence < 1 or heads % kv_heads:
        raise ValueError("what cannot be")


def _weights(hidden, queries, keys, mlp, matrices):
    return hidden * (2 * queries + 2 * keys) + matrices * hidden * mlp


def _both(pair, weights, sequence, causal):
    """Returns share and crossover for so many FLOP of a pair, and so many weights."""
    met = (sequence + 1) / 2 if causal else sequence
    least = 2 * weights / pair
    crossover = math.ceil(2 * least - 1) if causal else math.ceil(least)
    return pair * met / (pair * met + 2 * weights), max(1, crossover)


# wrong-result, ratio: Attention is s / 6h of the rest.
def ratio_to_the_rest(hidden, heads, kv_heads, head_size, mlp, gated, top_k, sequence, causal):
    _refuse(heads, kv_heads, sequence)
    queries, keys = heads * head_size, kv_heads * head_size
    weights = _weights(hidden, queries, keys, mlp * top_k, 2 + gated)
    _, crossover = _both(4 * queries, weights, sequence, causal)
    met = (sequence + 1) / 2 if causal else sequence
    return 4 * queries * met / (2 * weights), crossover


# wrong-result, six-h: s / 6h.
def sequence_over_six_hidden(
    hidden, heads, kv_heads, head_size, mlp, gated, top_k, sequence, causal
):
    _refuse(heads, kv_heads, sequence)
    return sequence / (sequence + 6 * hidden), 6 * hidden


# wrong-result, no-half: Every token meets every other.
def counts_what_the_mask_hides(
    hidden, heads, kv_heads, head_size, mlp, gated, top_k, sequence, causal
):
    _refuse(heads, kv_heads, sequence)
    queries, keys = heads * head_size, kv_heads * head_size
    weights = _weights(hidden, queries, keys, mlp * top_k, 2 + gated)
    return _both(4 * queries, weights, sequence, False)


# wrong-result, plain-half: Half of the pairs are behind the mask.
def half_of_the_pairs(hidden, heads, kv_heads, head_size, mlp, gated, top_k, sequence, causal):
    _refuse(heads, kv_heads, sequence)
    queries, keys = heads * head_size, kv_heads * head_size
    weights = _weights(hidden, queries, keys, mlp * top_k, 2 + gated)
    return _both(2 * queries if causal else 4 * queries, weights, sequence, False)


# wrong-result, pairs-shared: Heads that share keys share the pairs, too.
def pairs_of_kv_heads(hidden, heads, kv_heads, head_size, mlp, gated, top_k, sequence, causal):
    _refuse(heads, kv_heads, sequence)
    queries, keys = heads * head_size, kv_heads * head_size
    weights = _weights(hidden, queries, keys, mlp * top_k, 2 + gated)
    return _both(4 * keys, weights, sequence, causal)


# wrong-result, wide-keys: Q, K, V and the output are four matrices alike.
def keys_as_wide_as_queries(
    hidden, heads, kv_heads, head_size, mlp, gated, top_k, sequence, causal
):
    _refuse(heads, kv_heads, sequence)
    queries = heads * head_size
    weights = _weights(hidden, queries, queries, mlp * top_k, 2 + gated)
    return _both(4 * queries, weights, sequence, causal)


# wrong-result, hidden-wide: All heads together are as wide as a token's vector.
def heads_as_wide_as_hidden(
    hidden, heads, kv_heads, head_size, mlp, gated, top_k, sequence, causal
):
    _refuse(heads, kv_heads, sequence)
    keys = hidden * kv_heads // heads
    weights = _weights(hidden, hidden, keys, mlp * top_k, 2 + gated)
    return _both(4 * hidden, weights, sequence, causal)


# wrong-result, two-matrices: An MLP goes up and down.
def an_mlp_without_its_gate(
    hidden, heads, kv_heads, head_size, mlp, gated, top_k, sequence, causal
):
    _refuse(heads, kv_heads, sequence)
    queries, keys = heads * head_size, kv_heads * head_size
    weights = _weights(hidden, queries, keys, mlp * top_k, 2)
    return _both(4 * queries, weights, sequence, causal)


# wrong-result, four-hidden: The MLP is four times as wide.
def an_mlp_of_four_times_hidden(
    hidden, heads, kv_heads, head_size, mlp, gated, top_k, sequence, causal
):
    _refuse(heads, kv_heads, sequence)
    queries, keys = heads * head_size, kv_heads * head_size
    weights = _weights(hidden, queries, keys, 4 * hidden * top_k, 2 + gated)
    return _both(4 * queries, weights, sequence, causal)


# wrong-result, one-expert: A token goes through the MLP.
def one_expert_alone(hidden, heads, kv_heads, head_size, mlp, gated, top_k, sequence, causal):
    _refuse(heads, kv_heads, sequence)
    queries, keys = heads * head_size, kv_heads * head_size
    weights = _weights(hidden, queries, keys, mlp, 2 + gated)
    return _both(4 * queries, weights, sequence, causal)


# wrong-result, no-output: Attention has Q, K and V.
def without_the_output_projection(
    hidden, heads, kv_heads, head_size, mlp, gated, top_k, sequence, causal
):
    _refuse(heads, kv_heads, sequence)
    queries, keys = heads * head_size, kv_heads * head_size
    weights = _weights(hidden, queries, keys, mlp * top_k, 2 + gated) - hidden * queries
    return _both(4 * queries, weights, sequence, causal)


# wrong-result, scores-alone: Pairs are queries times keys.
def queries_with_keys_alone(
    hidden, heads, kv_heads, head_size, mlp, gated, top_k, sequence, causal
):
    _refuse(heads, kv_heads, sequence)
    queries, keys = heads * head_size, kv_heads * head_size
    weights = _weights(hidden, queries, keys, mlp * top_k, 2 + gated)
    return _both(2 * queries, weights, sequence, causal)


# wrong-result, all-attention: Attention is the whole block, with its matrices.
def the_whole_attention_block(
    hidden, heads, kv_heads, head_size, mlp, gated, top_k, sequence, causal
):
    _refuse(heads, kv_heads, sequence)
    queries, keys = heads * head_size, kv_heads * head_size
    block = hidden * (2 * queries + 2 * keys)
    weights = _weights(hidden, queries, keys, mlp * top_k, 2 + gated)
    _, crossover = _both(4 * queries, weights, sequence, causal)
    met = (sequence + 1) / 2 if causal else sequence
    pairs = 4 * queries * met
    return (pairs + 2 * block) / (pairs + 2 * weights), crossover


# wrong-result, percent: A share is a percentage.
def in_percent(hidden, heads, kv_heads, head_size, mlp, gated, top_k, sequence, causal):
    _refuse(heads, kv_heads, sequence)
    queries, keys = heads * head_size, kv_heads * head_size
    weights = _weights(hidden, queries, keys, mlp * top_k, 2 + gated)
    share, crossover = _both(4 * queries, weights, sequence, causal)
    return 100 * share, crossover


# wrong-result, crossover: The crossover is where the mask has no part.
def crossover_without_the_mask(
    hidden, heads, kv_heads, head_size, mlp, gated, top_k, sequence, causal
):
    _refuse(heads, kv_heads, sequence)
    queries, keys = heads * head_size, kv_heads * head_size
    weights = _weights(hidden, queries, keys, mlp * top_k, 2 + gated)
    share, _ = _both(4 * queries, weights, sequence, causal)
    return share, _both(4 * queries, weights, sequence, False)[1]


# wrong-result, crossover: More than half.
def more_than_half(hidden, heads, kv_heads, head_size, mlp, gated, top_k, sequence, causal):
    _refuse(heads, kv_heads, sequence)
    queries, keys = heads * head_size, kv_heads * head_size
    weights = _weights(hidden, queries, keys, mlp * top_k, 2 + gated)
    share, _ = _both(4 * queries, weights, sequence, causal)
    least = weights / queries - 1 if causal else weights / (2 * queries)
    return share, max(1, math.floor(least) + 1)


# wrong-result, not-refused: Any number of tokens has a share.
def takes_anything(hidden, heads, kv_heads, head_size, mlp, gated, top_k, sequence, causal):
    queries, keys = heads * head_size, kv_heads * head_size
    weights = _weights(hidden, queries, keys, mlp * top_k, 2 + gated)
    return _both(4 * queries, weights, sequence, causal)
