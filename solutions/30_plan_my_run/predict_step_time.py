"""predict_step_time: the seconds of a step, part by part.

    stage_flop(model, layout, batch, stage) -> a number
    all_reduce_seconds(size_bytes, ranks, apart, machine) -> a number
    predict_step_time(model, layout, batch, machine) -> a dict

    model    dict, as in predict_memory; it has no experts here
    layout   dict: dp, tp, zero, recompute and stages, as there
    batch    dict: sequences, microbatch (b), sequence (s), as there
    machine  dict: flop_per_s of a GPU in large products; node, GPUs of
             a node; link_bytes_per_s, what a GPU sends to others of its
             node; card_bytes_per_s, what it sends through its network
             card; host_s, what the host needs at least for one layer
             and microbatch, forward and backward

stage_flop: of one microbatch, both passes, all tp GPUs together. A
token takes 2 FLOP for each weight of a layer's matrices and of the
head, which the last stage has, and 4 a e s for a layer's scores. The
backward pass takes twice that. "selective" runs the scores forward once
more, "full" the layers, but not the head.

all_reduce_seconds: of `size_bytes` on each of `ranks` GPUs, `apart`
ranks from one to the next. Each sends 2 (n - 1) / n of its bytes. Take
the group of rank 0. If it is in one node, which begins with rank 0, it
uses links. Otherwise node // apart of its GPUs share a node, at least
one. They send through as many cards, and never faster than through a
link.

predict_step_time: seconds under these names, and "step", their sum. m
is how many microbatches a replica has, p how many stages. The ranks of
tp are side by side, those of dp tp apart, and stages tp dp apart.
    compute  m times the FLOP of the slowest stage on its tp GPUs
    tp       m times its all-reduces of 2 h bytes a token: in each layer
             two forward, two backward, and with "full" two more
    host     m times what is missing to host_s for each of its layers
    bubble   p - 1 times all of these for one microbatch
    pp       m + p - 1 times two sends: a stage's 2 h bytes a token, a
             tp-th from each GPU; by link if all p stages are in one
             node, else by card; 0 for one stage
    dp       of the stage with the most weights on a GPU: 4 bytes of
             gradient for each through an all-reduce over dp. With ZeRO
             1 and 2 it is half of one, and half of one for the weights,
             2 bytes each; with ZeRO 3 half of one, and two halves for
             the weights in each microbatch
The slowest stage has most seconds of compute, tp and host; among equals
it has most compute. For dp, weights are matrices and tables, and
embedding and head are two.
"""


def stage_flop(model, layout, batch, stage):
    # answer
    width = model["heads"] * model["head_size"]
    layers = layout["stages"][stage]
    weights = layer_weights(model) * layers
    head = 0
    if stage == len(layout["stages"]) - 1:
        head = model["vocabulary"] * model["hidden"]
    scores = 4 * width * batch["sequence"] * layers
    flop = 3 * (2 * weights + scores + 2 * head)
    if layout["recompute"] == "selective":
        flop += scores
    if layout["recompute"] == "full":
        flop += 2 * weights + scores
    return flop * batch["microbatch"] * batch["sequence"]
    # end answer


def layer_weights(model):
    """Returns the weights in the matrices of a layer."""
    # answer
    heads = 2 * (model["heads"] + model["kv_heads"])
    inside = model["matrices"] * model["mlp"]
    return model["hidden"] * (heads * model["head_size"] + inside)
    # end answer


def all_reduce_seconds(size_bytes, ranks, apart, machine):
    # answer
    if (ranks - 1) * apart < machine["node"]:
        rate = machine["link_bytes_per_s"]
    else:
        cards = max(machine["node"] // apart, 1)
        rate = cards * machine["card_bytes_per_s"]
        rate = min(rate, machine["link_bytes_per_s"])
    return 2 * (ranks - 1) / ranks * size_bytes / rate
    # end answer


def predict_step_time(model, layout, batch, machine):
    # answer
    stages, tp, dp = layout["stages"], layout["tp"], layout["dp"]
    tokens = batch["microbatch"] * batch["sequence"]
    m = batch["sequences"] // (dp * batch["microbatch"])
    p = len(stages)
    edge_bytes = 2 * model["hidden"] * tokens

    def passes(stage):
        """Seconds of one microbatch, and those of compute and tp."""
        flop = stage_flop(model, layout, batch, stage)
        compute = flop / tp / machine["flop_per_s"]
        times = 6 if layout["recompute"] == "full" else 4
        summed = all_reduce_seconds(edge_bytes, tp, 1, machine)
        sent = times * stages[stage] * summed
        host = machine["host_s"] * stages[stage]
        return max(compute + sent, host), compute, sent

    slowest, compute, sent = max(map(passes, range(p)))
    found = {"compute": m * compute, "tp": m * sent}
    found["host"] = m * (slowest - (compute + sent))
    found["bubble"] = (p - 1) * slowest
    near = tp * dp * p <= machine["node"]
    rate = machine["link_bytes_per_s" if near else "card_bytes_per_s"]
    found["pp"] = (m + p - 1) * 2 * edge_bytes / tp / rate * (p > 1)
    table = model["vocabulary"] * model["hidden"]
    of_stages = [layer_weights(model) * layers for layers in stages]
    of_stages[0] += table
    of_stages[-1] += table
    most = max(of_stages) / tp
    halves = {0: 4 + 4, 3: 4 + 4 * m}.get(layout["zero"], 4 + 2)
    found["dp"] = all_reduce_seconds(halves * most / 2, dp, tp, machine)
    found["step"] = sum(found.values())
    return found
    # end answer
