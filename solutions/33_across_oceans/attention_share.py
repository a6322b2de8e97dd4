"""attention_share: how much of a layer's work are pairs of tokens.

    attention_share(hidden, heads, kv_heads, head_size, mlp, gated,
                    top_k, sequence, causal) -> (share, crossover)

    hidden     numbers in a token's vector
    heads      of the queries
    kv_heads   of keys and values, each shared by equally many heads
    head_size  numbers in a head; heads * head_size need not be hidden
    mlp        numbers inside an MLP, or inside an expert
    gated      True for three matrices (gate, up, down), False for two
    top_k      MLPs that a token goes through: 1, or so many experts
    sequence   tokens in a sequence
    causal     True where each token meets itself and those before it
               alone, and nothing else is computed; False where each
               meets all

Count the FLOP of the products in one layer: of tokens with weights (Q,
K, V, the output, the MLPs; no router, no head), and of pairs of tokens
(queries with keys, and the softmax's weights with values). Return

    share      the pairs' part of all of them, from 0 to 1
    crossover  the shortest sequence, an int, in which the pairs' part
               is at least a half

Raise ValueError where kv_heads don't divide heads, or where sequence is
below 1. Every other number is 1 or more.
"""


def attention_share(
    hidden,
    heads,
    kv_heads,
    head_size,
    mlp,
    gated,
    top_k,
    sequence,
    causal,
):
    # answer
    if sequence < 1 or heads % kv_heads:
        raise ValueError(f"{sequence} tokens, {kv_heads} for {heads}")
    queries, keys = heads * head_size, kv_heads * head_size
    matrices = 3 if gated else 2
    weights = hidden * (2 * queries + 2 * keys)
    weights += matrices * hidden * mlp * top_k
    # In a sequence of s tokens one meets s, or (s + 1) / 2 on average.
    if causal:
        pairs = 2 * queries * (sequence + 1)
        crossover = -(-weights // queries) - 1
    else:
        pairs = 4 * queries * sequence
        crossover = -(-weights // (2 * queries))
    return pairs / (pairs + 2 * weights), crossover
    # end answer
