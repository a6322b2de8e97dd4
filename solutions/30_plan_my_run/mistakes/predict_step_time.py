"""Wrong answers to predict_step_time that people give."""


def flop(
    model, layout, batch, stage, keys="kv_heads", pairs=1, passes=3, head=None, again=None
):  # fmt: skip
    h, width = model["hidden"], model["heads"] * model["head_size"]
    layers = layout["stages"][stage]
    inside = 2 * (model["heads"] + model[keys]) * model["head_size"]
    weights = layers * h * (inside + model["matrices"] * model["mlp"])
    scores = 4 * width * batch["sequence"] * layers * pairs
    if head is None:
        head = stage == len(layout["stages"]) - 1
    table = 2 * model["vocabulary"] * h * head
    found = passes * (2 * weights + scores + table)
    more = {"none": 0, "selective": scores, "full": 2 * weights + scores}
    more.update(again(weights, scores, table) if again else {})
    return (found + more[layout["recompute"]]) * batch["microbatch"] * batch["sequence"]


def reduced(size_bytes, ranks, apart, machine, turns=2, own=1, cards=None, near=None, top=True):
    if near is None:
        near = (ranks - 1) * apart < machine["node"]
    rate = machine["link_bytes_per_s"]
    if not near:
        cards = cards or max(machine["node"] // apart, 1)
        through = cards * machine["card_bytes_per_s"]
        rate = min(rate, through) if top else through
    return turns * (ranks - own) / ranks * size_bytes / rate


def timed(
    model, layout, batch, machine, waits=None, of=max, replicas=None, times=(4, 6), host="layers",
    beside=True, divided=None, near=None, sends=2, halves=None, bubble="all",
):  # fmt: skip
    stages, tp, dp = layout["stages"], layout["tp"], layout["dp"]
    tokens = batch["microbatch"] * batch["sequence"]
    m, p = batch["sequences"] // ((replicas or dp) * batch["microbatch"]), len(stages)
    edge = 2 * model["hidden"] * tokens
    found = []
    for stage, layers in enumerate(stages):
        compute = flop(model, layout, batch, stage) / tp / machine["flop_per_s"]
        many = times[layout["recompute"] == "full"] * layers
        sent = many * reduced(edge, tp, 1, machine)
        least = machine["host_s"] * (layers if host == "layers" else 1)
        pace = max(compute + sent, least) if beside else compute + sent + least
        found.append((pace, compute, sent))
    pace, compute, sent = of(found)
    result = {"compute": m * compute, "tp": m * sent, "host": m * (pace - compute - sent)}
    waits = p - 1 if waits is None else waits(p)
    result["bubble"] = waits * (pace if bubble == "all" else compute)
    if near is None:
        near = tp * dp * p <= machine["node"]
    rate = machine["link_bytes_per_s" if near else "card_bytes_per_s"]
    result["pp"] = (m + p - 1) * sends * edge / (divided or tp) / rate * (p > 1)
    inside = 2 * (model["heads"] + model["kv_heads"]) * model["head_size"]
    layer = model["hidden"] * (inside + model["matrices"] * model["mlp"])
    weights = [layers * layer for layers in stages]
    for end in (0, -1):
        weights[end] += model["vocabulary"] * model["hidden"]
    rounds = {0: 8, 1: 6, 2: 6, 3: 4 + 4 * m}
    rounds.update(halves(m) if halves else {})
    result["dp"] = reduced(rounds[layout["zero"]] / 2 * max(weights) / tp, dp, tp, machine)
    return result | {"step": sum(result.values())}


# wrong-result, no-scores, for stage_flop: Counts products with weights alone.
def products_with_weights_alone(model, layout, batch, stage):
    return flop(model, layout, batch, stage, pairs=0)


# wrong-result, backward-once, for stage_flop: Lets the backward pass take as long as the forward.
def a_backward_pass_like_the_forward(model, layout, batch, stage):
    return flop(model, layout, batch, stage, passes=2)


# wrong-result, no-head, for stage_flop: Forgets the head.
def layers_alone(model, layout, batch, stage):
    return flop(model, layout, batch, stage, head=0)


# wrong-result, head-everywhere, for stage_flop: Gives each stage the head.
def a_head_on_each_stage(model, layout, batch, stage):
    return flop(model, layout, batch, stage, head=1)


# wrong-result, nothing-again, for stage_flop: Forgets what runs once more.
def nothing_again(model, layout, batch, stage):
    return flop(model, layout, batch, stage, again=lambda *_: {"selective": 0, "full": 0})


# wrong-result, selective-as-full, for stage_flop: Runs all of a layer once more with "selective".
def all_again_with_selective(model, layout, batch, stage):
    def again(weights, scores, _table):
        return {"selective": 2 * weights + scores}

    return flop(model, layout, batch, stage, again=again)


# wrong-result, head-again, for stage_flop: Runs the head once more with "full".
def the_head_again(model, layout, batch, stage):
    def again(weights, scores, table):
        return {"full": 2 * weights + scores + table}

    return flop(model, layout, batch, stage, again=again)


# wrong-result, keys-as-queries, for stage_flop: Takes attention for four squares.
def as_many_keys_as_queries(model, layout, batch, stage):
    return flop(model, layout, batch, stage, keys="heads")


# wrong-result, one-way-round, for all_reduce_seconds: Thinks of a reduce-scatter.
def round_once(size_bytes, ranks, apart, machine):
    return reduced(size_bytes, ranks, apart, machine, turns=1)


# wrong-result, all-of-it-twice, for all_reduce_seconds: Sends every part twice.
def every_part_twice(size_bytes, ranks, apart, machine):
    return reduced(size_bytes, ranks, apart, machine, own=0 if ranks > 1 else 1)


# wrong-result, one-card, for all_reduce_seconds: Gives a group one card to a node.
def one_card_to_a_node(size_bytes, ranks, apart, machine):
    return reduced(size_bytes, ranks, apart, machine, cards=1)


# wrong-result, all-cards, for all_reduce_seconds: Gives a group all cards of a node.
def every_card_of_a_node(size_bytes, ranks, apart, machine):
    return reduced(size_bytes, ranks, apart, machine, cards=machine["node"])


# wrong-result, cards-past-links, for all_reduce_seconds: Adds up cards without end.
def cards_faster_than_links(size_bytes, ranks, apart, machine):
    return reduced(size_bytes, ranks, apart, machine, top=False)


# wrong-result, cards-everywhere, for all_reduce_seconds: Sends all through cards.
def cards_in_a_node_too(size_bytes, ranks, apart, machine):
    return reduced(size_bytes, ranks, apart, machine, near=False, cards=1)


# wrong-result, links-everywhere, for all_reduce_seconds: Sends all through links.
def links_between_nodes_too(size_bytes, ranks, apart, machine):
    return reduced(size_bytes, ranks, apart, machine, near=True)


# wrong-result, p-in-the-bubble, for predict_step_time: Waits once for each stage.
def p_in_the_bubble(model, layout, batch, machine):
    return timed(model, layout, batch, machine, waits=lambda p: p)


# wrong-result, no-bubble, for predict_step_time: Takes a pipeline for always full.
def always_full(model, layout, batch, machine):
    return timed(model, layout, batch, machine, waits=lambda p: 0)


# wrong-result, bubble-of-compute, for predict_step_time: Waits for computing alone.
def waits_for_compute_alone(model, layout, batch, machine):
    return timed(model, layout, batch, machine, bubble="compute")


# wrong-result, mean-stage, for predict_step_time: Takes the mean of the stages.
def the_mean_stage(model, layout, batch, machine):
    def mean(found):
        return [sum(each) / len(found) for each in zip(*found)]

    return timed(model, layout, batch, machine, of=mean)


# wrong-result, whole-batch, for predict_step_time: Gives a replica the whole batch.
def the_whole_batch(model, layout, batch, machine):
    return timed(model, layout, batch, machine, replicas=1)


# wrong-result, forward-alone, for predict_step_time: Counts what is summed in the forward pass.
def sums_of_the_forward_pass(model, layout, batch, machine):
    return timed(model, layout, batch, machine, times=(2, 4))


# wrong-result, full-not-sent-again, for predict_step_time: Recomputes without sending.
def recomputes_without_sending(model, layout, batch, machine):
    return timed(model, layout, batch, machine, times=(4, 4))


# wrong-result, host-of-a-stage, for predict_step_time: Asks the host once for a stage.
def the_host_once_for_a_stage(model, layout, batch, machine):
    return timed(model, layout, batch, machine, host="stage")


# wrong-result, host-beside-it, for predict_step_time: Adds the host's time.
def the_host_added(model, layout, batch, machine):
    return timed(model, layout, batch, machine, beside=False)


# wrong-result, sends-not-divided, for predict_step_time: Lets each GPU send the whole edge.
def the_whole_edge(model, layout, batch, machine):
    return timed(model, layout, batch, machine, divided=1)


# wrong-result, sends-by-link, for predict_step_time: Sends to the next stage by link.
def sends_by_link(model, layout, batch, machine):
    return timed(model, layout, batch, machine, near=True)


# wrong-result, one-send, for predict_step_time: Sends activations, and no gradients.
def sends_forward_alone(model, layout, batch, machine):
    return timed(model, layout, batch, machine, sends=1)


# wrong-result, gradients-in-16-bits, for predict_step_time: Sends gradients in 2 bytes.
def gradients_in_two_bytes(model, layout, batch, machine):
    return timed(
        model, layout, batch, machine,
        halves=lambda m: {0: 4, 1: 4, 2: 4, 3: 2 + 4 * m},
    )  # fmt: skip


# wrong-result, no-weights-back, for predict_step_time: Forgets to send the weights round.
def keeps_its_weights(model, layout, batch, machine):
    return timed(model, layout, batch, machine, halves=lambda m: {1: 4, 2: 4})


# wrong-result, weights-once, for predict_step_time: Gathers weights once in a step.
def gathers_once_in_a_step(model, layout, batch, machine):
    return timed(model, layout, batch, machine, halves=lambda m: {3: 4 + 4})


# wrong-result, not-the-names, for predict_step_time: Returns the sum alone.
def the_sum_alone(model, layout, batch, machine):
    return timed(model, layout, batch, machine)["step"]
