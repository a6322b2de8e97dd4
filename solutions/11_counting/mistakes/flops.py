"""Wrong answers to flops that people give."""


def _sums(c, batch, sequence, **changed):
    tokens = batch * sequence
    queries, keys = c["heads"] * c["head_size"], c["kv_heads"] * c["head_size"]
    mlp = (3 if c["gated"] else 2) * c["hidden"] * c["mlp"]
    layer = 2 * c["hidden"] * (queries + keys) + changed.get("met", c["top_k"] or 1) * mlp
    layer += c["hidden"] * changed.get("routed", c["experts"])
    weights = 2 * tokens * c["layers"] * layer
    width = changed.get("width", queries)
    pairs = 4 * tokens * sequence * width * c["layers"]
    return weights, pairs, 2 * tokens * c["vocabulary"] * c["hidden"]


def _both(weights, pairs, head, again):
    model = 3 * (weights + pairs + head)
    more = {"none": 0, "attention": pairs, "layers": weights + pairs}
    return model, model + more[again]


# wrong-result, half-flop: A multiply-add is one operation.
def one_flop_for_a_product_and_its_sum(config, batch, sequence, again):
    model, machine = _both(*_sums(config, batch, sequence), again)
    return model // 2, machine // 2


# wrong-result, six-n: Six for each parameter and token, eight where the layers run again.
def six_for_each_parameter(config, batch, sequence, again):
    c, tokens = config, batch * sequence
    attention = 2 * c["hidden"] * c["head_size"] * (c["heads"] + c["kv_heads"])
    mlps = (c["experts"] or 1) * (3 if c["gated"] else 2) * c["hidden"] * c["mlp"]
    layer = attention + mlps + c["hidden"] * c["experts"]
    total = c["layers"] * layer + c["vocabulary"] * c["hidden"] * (1 if c["tied"] else 2)
    return 6 * total * tokens, (8 if again == "layers" else 6) * total * tokens


# wrong-result, no-pairs: Attention is what its four matrices do.
def forgets_the_pairs(config, batch, sequence, again):
    weights, _, head = _sums(config, batch, sequence)
    return _both(weights, 0, head, again)


# wrong-result, one-product: Scores are queries with keys, and that is attention.
def scores_alone(config, batch, sequence, again):
    weights, pairs, head = _sums(config, batch, sequence)
    return _both(weights, pairs // 2, head, again)


# wrong-result, causal: Half of the scores are masked.
def half_of_the_pairs(config, batch, sequence, again):
    weights, pairs, head = _sums(config, batch, sequence)
    return _both(weights, pairs * (sequence + 1) // (2 * sequence), head, again)


# wrong-result, few-keys: There are fewer keys, so there are fewer scores.
def pairs_of_the_kv_heads(config, batch, sequence, again):
    width = config["kv_heads"] * config["head_size"]
    return _both(*_sums(config, batch, sequence, width=width), again)


# wrong-result, wide-pairs: 4 L s h, as the papers write.
def pairs_as_wide_as_hidden(config, batch, sequence, again):
    return _both(*_sums(config, batch, sequence, width=config["hidden"]), again)


# wrong-result, no-head: A tied head has no parameters, so it does nothing.
def forgets_the_head(config, batch, sequence, again):
    weights, pairs, _ = _sums(config, batch, sequence)
    return _both(weights, pairs, 0, again)


# wrong-result, table-again: Each table is multiplied.
def multiplies_the_table_too(config, batch, sequence, again):
    weights, pairs, head = _sums(config, batch, sequence)
    return _both(weights, pairs, 2 * head, again)


# wrong-result, head-again: Everything runs again.
def the_head_runs_again(config, batch, sequence, again):
    weights, pairs, head = _sums(config, batch, sequence)
    model, machine = _both(weights, pairs, head, again)
    return model, machine + (head if again == "layers" else 0)


# wrong-result, all-experts: A parameter that is there is multiplied.
def every_expert_works(config, batch, sequence, again):
    return _both(*_sums(config, batch, sequence, met=config["experts"] or 1), again)


# wrong-result, no-router: Choosing costs nothing.
def forgets_the_router(config, batch, sequence, again):
    return _both(*_sums(config, batch, sequence, routed=0), again)


# wrong-result, forward-alone: FLOP of a model are those of its forward pass.
def a_forward_pass(config, batch, sequence, again):
    model, machine = _both(*_sums(config, batch, sequence), again)
    return model // 3, model // 3 + machine - model


# wrong-result, once-back: Backward is forward once more.
def backward_as_long_as_forward(config, batch, sequence, again):
    model, machine = _both(*_sums(config, batch, sequence), again)
    return model // 3 * 2, model // 3 * 2 + machine - model


# wrong-result, all-again: Attention is a layer's name.
def the_layer_runs_again_for_attention(config, batch, sequence, again):
    again = "layers" if again == "attention" else again
    return _both(*_sums(config, batch, sequence), again)


# wrong-result, never-again: A FLOP is a FLOP of the model.
def nothing_runs_again(config, batch, sequence, again):
    return _both(*_sums(config, batch, sequence), "none")


# wrong-result, swapped: The larger one first.
def in_the_wrong_order(config, batch, sequence, again):
    return _both(*_sums(config, batch, sequence), again)[::-1]


# wrong-result, back-again: Everything three times, and what runs again three times more.
def runs_back_again_too(config, batch, sequence, again):
    model, machine = _both(*_sums(config, batch, sequence), again)
    return model, model + 3 * (machine - model)
