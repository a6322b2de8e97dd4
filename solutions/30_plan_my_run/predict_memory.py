"""predict_memory: bytes of a GPU, for each stage of a layout.

    state_bytes(model, layout, stage) -> a number
    activation_bytes(model, layout, batch, stage) -> a number
    predict_memory(model, layout, batch) -> a list of numbers

    model   dict: layers, hidden (h); heads (a), kv_heads (k) and
            head_size (e); mlp (f), numbers inside the MLP or inside one
            expert, and matrices, 2 or 3 of h by f; experts and top_k,
            both 0 where there is one MLP and no router; vocabulary (V);
            tied, True where embedding and head are one table
    layout  dict: dp, tp, ep; sp, True or False; zero, 0 to 3;
            recompute, "none", "selective" or "full"; stages, a list:
            how many layers each stage of the pipeline has
    batch   dict: sequences of a step, microbatch, how many of them go
            through together (b), and sequence, tokens of one (s)
    stage   of the pipeline, from 0
    return  bytes that one GPU of the stage holds: of weights, gradients
            and optimizer, and of activations. predict_memory gives the
            sum of both, for each stage

States. A layer has h (2ae + 2ke) weights of attention, `matrices` of
h f in its MLP or in each expert, h to a router's expert, and 2 norms of
h. The first stage has the embedding, V h, and the last one a norm of h
and the head, V h. Where one stage is both, a tied table is there once.
tp divides attention, MLPs, experts and tables; routers and norms are
whole on each GPU. A GPU has experts / ep of the experts. Each weight
takes 2 bytes, its gradient 4, what the optimizer holds 12. ZeRO 1
divides those 12 among the dp replicas, ZeRO 2 the gradients too, and
ZeRO 3 the weights too. An expert has only dp / ep replicas.

Activations, bytes of a layer for each token of a microbatch:
    10 h                      whole; over tp where sp is True
    2 (2ae + 2ke)             over tp
    2 matrices f              over tp, and top_k times with experts
    5 a s                     over tp; not kept with "selective"
With "full" it is 2 h alone, whole. With 1F1B, stage i of p holds this
for p - i microbatches at once (i from 0), and for no more than a
replica has. The first stage holds h more for each token of these, as
the 10 h are held. The last stage holds 4 h more, held alike, and 4 V
over tp, for the tokens of one microbatch.

predict_memory raises ValueError for a layout that cannot be: something
below 1, another word or number than those above, a stage without a
layer, stages that together are not all layers; tp that does not divide
heads, kv_heads, mlp and vocabulary, or with sp the sequence; ep that
does not divide experts and dp; dp times microbatch that does not divide
the sequences. Without experts ep is 1.
"""


def state_bytes(model, layout, stage):
    """Returns the bytes of weights, gradients and optimizer."""
    # answer
    h, tp, ep = model["hidden"], layout["tp"], layout["ep"]
    layers, last = layout["stages"][stage], len(layout["stages"]) - 1
    heads = model["heads"] + model["kv_heads"]
    mlp = model["matrices"] * h * model["mlp"]
    table = model["vocabulary"] * h
    dense = layers * (2 * h * heads * model["head_size"] / tp + 2 * h)
    experts = 0
    if model["experts"]:
        dense += layers * h * model["experts"]
        experts = layers * model["experts"] / ep * mlp / tp
    else:
        dense += layers * mlp / tp
    if stage == 0:
        dense += table / tp
    if stage == last:
        dense += h
        if stage > 0 or not model["tied"]:
            dense += table / tp
    # The optimizer is divided from ZeRO 1 on, and so forth.
    parts = [(1, 12), (2, 4), (3, 2)]
    found = 0
    replicas_of = ((dense, layout["dp"]), (experts, layout["dp"] // ep))
    for weights, replicas in replicas_of:
        for begins, size in parts:
            divided = replicas if layout["zero"] >= begins else 1
            found += weights * size / divided
    return found
    # end answer


def activation_bytes(model, layout, batch, stage):
    """Returns the bytes of activations."""
    # answer
    h, e, tp = model["hidden"], model["head_size"], layout["tp"]
    stages = layout["stages"]
    tokens = batch["sequence"] * batch["microbatch"]
    along = tp if layout["sp"] else 1
    inside = 4 * (model["heads"] + model["kv_heads"]) * e
    mlps = model["top_k"] or 1
    inside += 2 * model["matrices"] * model["mlp"] * mlps
    if layout["recompute"] == "none":
        inside += 5 * model["heads"] * batch["sequence"]
    layer = 10 * h / along + inside / tp
    if layout["recompute"] == "full":
        layer = 2 * h
    together = layout["dp"] * batch["microbatch"]
    held = layer * stages[stage]
    if stage == 0:
        held += h / along
    under_way = min(len(stages) - stage, batch["sequences"] // together)
    found = held * under_way
    if stage == len(stages) - 1:
        found += 4 * h / along + 4 * model["vocabulary"] / tp
    return found * tokens
    # end answer


def predict_memory(model, layout, batch):
    # answer
    stages, dp, tp = layout["stages"], layout["dp"], layout["tp"]
    ep, experts = layout["ep"], model["experts"]
    if min(dp, tp, ep, *batch.values(), *stages) < 1:
        raise ValueError("there is less than one of something")
    if layout["zero"] not in (0, 1, 2, 3):
        raise ValueError(f"there is no ZeRO {layout['zero']}")
    if layout["recompute"] not in ("none", "selective", "full"):
        raise ValueError(f"nothing is called {layout['recompute']}")
    if sum(stages) != model["layers"]:
        raise ValueError("the stages are not the layers")
    names = ("heads", "kv_heads", "mlp", "vocabulary")
    cut = [model[name] for name in names]
    if layout["sp"]:
        cut.append(batch["sequence"])
    if any(number % tp for number in cut):
        raise ValueError(f"tp {tp} does not divide {cut}")
    if (ep > 1 and not experts) or experts % ep or dp % ep:
        raise ValueError(f"ep {ep} does not divide {experts} and {dp}")
    if batch["sequences"] % (dp * batch["microbatch"]):
        raise ValueError("dp x microbatch does not divide the batch")
    return [
        state_bytes(model, layout, stage) + activation_bytes(model, layout, batch, stage)
        for stage in range(len(stages))
    ]
    # end answer
