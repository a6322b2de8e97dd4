"""Wrong answers to parameters that people give."""


def _checked(c):
    wrong = c["layers"] < 1 or c["heads"] % c["kv_heads"]
    wrong = wrong or (c["head_size"] is None and c["hidden"] % c["heads"])
    wrong = wrong or c["top_k"] > c["experts"]
    if wrong or (c["experts"] and c["top_k"] < 1):
        raise ValueError


def _count(c, **changed):
    c = {**c, **changed}
    hidden = c["hidden"]
    size = c["head_size"] or hidden // c["heads"]
    queries, keys = c["heads"] * size, c["kv_heads"] * size
    queries = c.get("queries", queries)
    attention = 2 * hidden * queries + 2 * hidden * keys
    attention += (queries + 2 * c.get("key_bias", keys)) * c["qkv_bias"] + hidden * c["bias"]
    into = c.get("into", 2 if c["gated"] else 1)
    mlp = (into + 1) * hidden * c["mlp"] + (into * c["mlp"] + hidden) * c["bias"]
    norm = hidden * c.get("norm_numbers", 2 if c["norm"] == "layer" else 1)
    router = hidden * c.get("routed", c["experts"])
    layer = attention + router + c["norms"] * norm
    tables = c["vocabulary"] * (1 if c["tied"] else 2)
    around = (tables + c["positions"]) * hidden + norm * c.get("last", 1)
    return tuple(
        around + c["layers"] * (layer + mlps * mlp)
        for mlps in (c.get("all", c["experts"] or 1), c.get("met", c["top_k"] or 1))
    )


# wrong-result, square: Four matrices of h by h, as every paper writes.
def all_matrices_square(config):
    _checked(config)
    size = config["hidden"] // config["heads"] or 1
    keys = config["kv_heads"] * size
    return _count(config, head_size=size, queries=config["hidden"], key_bias=keys)


# wrong-result, full-keys: Every head has queries, keys and values.
def as_many_keys_as_queries(config):
    _checked(config)
    return _count(config, kv_heads=config["heads"])


# wrong-result, four-hidden: An MLP is four times as wide as the model.
def four_times_hidden(config):
    _checked(config)
    return _count(config, mlp=4 * config["hidden"])


# wrong-result, two-matrices: Up and down; a gate is an activation.
def no_matrix_for_the_gate(config):
    _checked(config)
    return _count(config, into=1)


# wrong-result, one-mlp: Experts are a way to train one MLP.
def one_mlp_a_layer(config):
    _checked(config)
    return _count(config, all=1, met=1)


# wrong-result, no-router: Choosing learns nothing.
def forgets_the_router(config):
    _checked(config)
    return _count(config, routed=0)


# wrong-result, no-biases: Biases are too few to matter.
def leaves_out_biases(config):
    _checked(config)
    return _count(config, qkv_bias=False, bias=False)


# wrong-result, key-biases: Queries, keys and values come out of one product, three times as wide.
def three_equal_biases(config):
    _checked(config)
    c = config
    size = c["head_size"] or c["hidden"] // c["heads"]
    return _count(config, key_bias=c["heads"] * size)


# wrong-result, no-norms: Norms only scale.
def leaves_out_norms(config):
    _checked(config)
    return _count(config, norm_numbers=0)


# wrong-result, last-norm: Counts what stands in the layers.
def forgets_the_last_norm(config):
    _checked(config)
    return _count(config, last=0)


# wrong-result, scale-alone: One number for each, as RMSNorm has it.
def every_norm_has_a_scale(config):
    _checked(config)
    return _count(config, norm_numbers=1)


# wrong-result, two-norms: One before the attention, one before the MLP.
def two_norms_a_layer(config):
    _checked(config)
    return _count(config, norms=2, layers=config["layers"])


# wrong-result, tied-twice: An embedding and a head are two things.
def counts_a_tied_head(config):
    _checked(config)
    return _count(config, tied=False)


# wrong-result, no-head: The head is always the embedding once more.
def every_head_is_tied(config):
    _checked(config)
    return _count(config, tied=True)


# wrong-result, no-positions: Positions are waves, and waves learn nothing.
def forgets_positions(config):
    _checked(config)
    return _count(config, positions=0)


# wrong-result, all-active: A parameter that is there is used.
def every_expert_is_met(config):
    _checked(config)
    return _count(config, met=config["experts"] or 1)


# wrong-result, one-expert: A token goes to its expert.
def one_expert_for_each_token(config):
    _checked(config)
    return _count(config, met=1)


# wrong-result, swapped: The smaller one first.
def in_the_wrong_order(config):
    _checked(config)
    return _count(config)[::-1]


# wrong-result, not-refused: Whoever writes a config knows what fits.
def takes_every_config(config):
    return _count(config)


# wrong-result, refused: Each head has a part of hidden, so the heads divide it.
def heads_always_divide_hidden(config):
    _checked(config)
    if config["hidden"] % config["heads"]:
        raise ValueError
    return _count(config)
