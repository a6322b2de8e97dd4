"""Wrong answers to predict_memory that people give."""


def states(
    model, layout, stage, sizes=(12, 4, 2), late=0, keys="kv_heads", norms=False, router=False,
    tables=None, tied=True, replicas=None, held=None,
):  # fmt: skip
    h, tp, ep, dp = model["hidden"], layout["tp"], layout["ep"], layout["dp"]
    layers, last = layout["stages"][stage], len(layout["stages"]) - 1
    heads = model["heads"] + model[keys]
    mlp = model["matrices"] * h * model["mlp"]
    table = model["vocabulary"] * h
    dense = layers * (2 * h * heads * model["head_size"] / tp + 2 * h / (tp if norms else 1))
    experts = 0
    if model["experts"]:
        dense += layers * h * model["experts"] / (tp if router else 1)
        experts = layers * mlp / tp * (held or model["experts"] / ep)
    else:
        dense += layers * mlp / tp
    if tables is None:
        once = model["tied"] and (tied == "always" or (tied and last == 0))
        tables = (stage == 0) + (stage == last and not once)
    dense += tables * table / tp + h * (stage == last)
    found = 0
    for weights, copies in ((dense, dp), (experts, replicas or dp // ep)):
        for begins, size in enumerate(sizes, 1 + late):
            found += weights * size / (copies if layout["zero"] >= begins else 1)
    return found


def activations(
    model, layout, batch, stage, under_way=None, along=None, keys="kv_heads", mlps=None,
    scores=("none",), full=1, logits=1,
):  # fmt: skip
    h, e, tp = model["hidden"], model["head_size"], layout["tp"]
    stages = layout["stages"]
    tokens = batch["sequence"] * batch["microbatch"]
    along = along or (tp if layout["sp"] else 1)
    inside = 4 * (model["heads"] + model[keys]) * e
    inside += 2 * model["matrices"] * model["mlp"] * (mlps or model["top_k"] or 1)
    if layout["recompute"] in scores:
        inside += 5 * model["heads"] * batch["sequence"]
    layer = 10 * h / along + inside / tp
    if layout["recompute"] == "full":
        layer = 2 * h / full
    if under_way is None:
        begun = batch["sequences"] // (layout["dp"] * batch["microbatch"])
        under_way = min(len(stages) - stage, begun)
    found = (layer * stages[stage] + (h / along if stage == 0 else 0)) * under_way
    if stage == len(stages) - 1:
        found += (4 * h / along + 4 * model["vocabulary"] / tp) * logits
    return found * tokens


# wrong-result, gradients-in-16-bits, for state_bytes: Gives each gradient the bytes of its weight.
def gradients_in_two_bytes(model, layout, stage):
    return states(model, layout, stage, sizes=(12, 2, 2))


# wrong-result, zero-one-late, for state_bytes: Takes ZeRO 1 for no ZeRO at all.
def zero_begins_at_two(model, layout, stage):
    return states(model, layout, stage, late=1)


# wrong-result, zero-one-early, for state_bytes: Lets the first stage of ZeRO divide gradients too.
def zero_begins_at_zero(model, layout, stage):
    return states(model, layout, stage, late=-1 if layout["zero"] else 0)


# wrong-result, tables-divided, for state_bytes: Divides the whole model by the number of stages.
def tables_over_the_pipeline(model, layout, stage):
    tables = 1 if model["tied"] else 2
    return states(model, layout, stage, tables=tables / len(layout["stages"]))


# wrong-result, norms-divided, for state_bytes: Divides every weight of a layer by tp.
def tp_divides_norms(model, layout, stage):
    return states(model, layout, stage, norms=True)


# wrong-result, router-divided, for state_bytes: Divides the router by tp, like the experts.
def tp_divides_the_router(model, layout, stage):
    return states(model, layout, stage, router=True)


# wrong-result, keys-as-queries, for state_bytes: Takes attention for four squares.
def weights_of_as_many_keys(model, layout, stage):
    return states(model, layout, stage, keys="heads")


# wrong-result, experts-over-all-replicas, for state_bytes: Divides states of experts by dp.
def experts_over_dp(model, layout, stage):
    return states(model, layout, stage, replicas=layout["dp"])


# wrong-result, all-experts-held, for state_bytes: Forgets that experts are shared out.
def every_expert_on_every_gpu(model, layout, stage):
    return states(model, layout, stage, held=model["experts"])


# wrong-result, tied-always-once, for state_bytes: Thinks that a tied table can be on one stage.
def a_tied_table_once(model, layout, stage):
    return states(model, layout, stage, tied="always")


# wrong-result, never-tied, for state_bytes: Does not ask whether the table is tied.
def a_tied_table_twice(model, layout, stage):
    return states(model, layout, stage, tied=False)


# wrong-result, one-microbatch, for activation_bytes: Forgets microbatches that are under way.
def one_microbatch_at_a_time(model, layout, batch, stage):
    return activations(model, layout, batch, stage, under_way=1)


# wrong-result, all-stages-alike, for activation_bytes: Lets each stage hold p microbatches.
def as_many_on_each_stage(model, layout, batch, stage):
    begun = batch["sequences"] // (layout["dp"] * batch["microbatch"])
    under_way = min(len(layout["stages"]), begun)
    return activations(model, layout, batch, stage, under_way=under_way)


# wrong-result, other-end, for activation_bytes: Counts stages from the wrong end.
def most_on_the_last_stage(model, layout, batch, stage):
    begun = batch["sequences"] // (layout["dp"] * batch["microbatch"])
    return activations(model, layout, batch, stage, under_way=min(stage + 1, begun))


# wrong-result, one-too-many, for activation_bytes: Counts stages from 1.
def one_more_under_way(model, layout, batch, stage):
    begun = batch["sequences"] // (layout["dp"] * batch["microbatch"])
    under_way = min(len(layout["stages"]) - stage + 1, begun)
    return activations(model, layout, batch, stage, under_way=under_way)


# wrong-result, whole-batch-under-way, for activation_bytes: Does not ask how many there are.
def more_under_way_than_there_are(model, layout, batch, stage):
    under_way = len(layout["stages"]) - stage
    return activations(model, layout, batch, stage, under_way=under_way)


# wrong-result, tp-divides-all, for activation_bytes: Divides everything by tp.
def tp_divides_activations(model, layout, batch, stage):
    return activations(model, layout, batch, stage, along=layout["tp"])


# wrong-result, keys-as-queries, for activation_bytes: Keeps as many keys as queries.
def activations_of_as_many_keys(model, layout, batch, stage):
    return activations(model, layout, batch, stage, keys="heads")


# wrong-result, all-experts-active, for activation_bytes: Sends each token through all experts.
def every_expert_sees_every_token(model, layout, batch, stage):
    return activations(model, layout, batch, stage, mlps=model["experts"])


# wrong-result, scores-kept, for activation_bytes: Takes "selective" for "none".
def selective_keeps_scores(model, layout, batch, stage):
    return activations(model, layout, batch, stage, scores=("none", "selective"))


# wrong-result, full-divided, for activation_bytes: Divides the kept input by tp.
def full_is_divided(model, layout, batch, stage):
    return activations(model, layout, batch, stage, full=layout["tp"])


# wrong-result, logits-of-all, for activation_bytes: Keeps logits for each stage.
def logits_for_each_stage(model, layout, batch, stage):
    begun = batch["sequences"] // (layout["dp"] * batch["microbatch"])
    logits = min(len(layout["stages"]), begun)
    return activations(model, layout, batch, stage, logits=logits)


# wrong-result, not-refused, for predict_memory: Adds up whatever comes.
def adds_up_whatever_comes(model, layout, batch):
    return [
        states(model, layout, stage) + activations(model, layout, batch, stage)
        for stage in range(len(layout["stages"]))
    ]


# wrong-result, refused, for predict_memory: Asks for stages of equal length.
def stages_of_equal_length(model, layout, batch):
    if model["layers"] % len(layout["stages"]) or len(set(layout["stages"])) > 1:
        raise ValueError("the stages are not equal")
    return adds_up_whatever_comes(model, layout, batch)


# wrong-result, not-a-list, for predict_memory: Returns the fullest stage alone.
def the_fullest_stage(model, layout, batch):
    return max(adds_up_whatever_comes(model, layout, batch))
