"""one_model_every_axis: whose gradients are summed, and what it costs.

The same small GPT runs under any mix of axes. What is cut, gathered and
sent is there already; two things are left for you.

    summed_over(name, config) -> a list of axes

    name    of a weight, see below
    config  dict: "dp", "tp", "cp", "pp", "ep": ranks along each axis;
            "zero3", "sp": True or False
    return  the axes over whose ranks the gradients of this weight have
            to be added up, so that each gets the gradient of the whole
            batch. Only ranks that have the weight take part

    bytes_per_rank(config, shape, place) -> a dict

    shape   dict: "hidden", "heads", "layers", "sequence", "vocabulary",
            "inside", "experts", "batch", "microbatches"
    place   dict: where the rank stands on each axis
    return  "weights", "gradients", "states": bytes that it holds
            "wire": bytes that it sends in a step. A ring of n ranks
            with S bytes each sends 2 S (n - 1) / n in an all-reduce,
            S (n - 1) / n in a reduce-scatter or an all-to-all, and
            S (n - 1) in an all-gather; a message counts in full

All numbers are finite and float64, 8 bytes. Adam has two states for
each weight. The loss is a sum over tokens, divided by all tokens of the
batch.

weight                shape, h = hidden          cut over
tokens                vocabulary x h             -
places                sequence x h               -
norm_attention (l)    h                          -
qkv            (l)    3 x h x h                  tp
out            (l)    h x h                      tp
norm_mlp       (l)    h                          -
router         (l)    experts x h                -
up, down       (l)    experts x inside x h       tp and ep
norm                  h                          -

(l) is there once for each layer. With pp, each stage has equally many
layers. tokens gives vectors on the first stage and logits on the last,
so both have it; places is on the first stage and norm on the last.

dp, ep  each rank has its own sequences, equally many. Each of its
        microbatches, which are equally large, goes through all that
        follows.
ep      A buffer of experts x (tokens x h) goes out by an all-to-all, x
        being tokens that the rank sees in attention; another one comes
        back. Backward does the same.
tp      Without sp, all its ranks see the same tokens, before and after
        attention and experts. What goes into either is copied, what
        comes out is summed by an all-reduce; backward the other way
        round. Each rank has a part of every head's and every expert's
        sum, so it also sees a part of what the router's choice did.
sp      Between those two, in norms, embedding and loss, each rank of tp
        has its own share of the tokens. An all-gather goes in and a
        reduce-scatter comes out; backward the other way round.
cp      Each rank has its own part of each sequence. Keys and values of
        the whole sequence are gathered for attention; backward is a
        reduce-scatter of their gradients.
pp      Activations go to the next stage, and gradients come back.
zero3   Each weight is cut once more, over dp, into slices of equal
        length, the last one filled up. For each microbatch it is
        gathered before its use, again before its backward pass, and its
        gradient is reduce-scattered. tokens is used twice where one
        rank has both ends of the model. dp is summed over thereby.

Gradients that are not sliced are summed by one all-reduce over all axes
that you name; with zero3 the slices are, over all but dp.
"""

import math

HEADS, EXPERTS = ["tp"], ["tp", "ep"]
CUT = {"qkv": HEADS, "out": HEADS, "up": EXPERTS, "down": EXPERTS}
FLOAT64 = 8


def summed_over(name, config):
    # answer
    axes = ["dp", "cp"]
    if name not in ("up", "down"):
        axes.append("ep")
    if name == "router" or (config["sp"] and name not in CUT):
        axes.append("tp")
    if name == "tokens":
        axes.append("pp")
    return axes
    # end answer


def bytes_per_rank(config, shape, place):
    # answer
    first, last = place["pp"] == 0, place["pp"] == config["pp"] - 1
    layers, rounds = shape["layers"] // config["pp"], shape["microbatches"]
    h, experts = shape["hidden"], shape["experts"] * shape["inside"] * shape["hidden"]
    # (numbers, how many this rank holds, how often it uses them)
    weights = {
        "tokens": (shape["vocabulary"] * h, first or last, first + last),
        "places": (shape["sequence"] * h, first, first),
        "norm": (h, last, last),
        "norm_attention": (h, layers, layers),
        "qkv": (3 * h * h, layers, layers),
        "out": (h * h, layers, layers),
        "norm_mlp": (h, layers, layers),
        "router": (shape["experts"] * h, layers, layers),
        "up": (experts, layers, layers),
        "down": (experts, layers, layers),
    }
    held = wire = 0
    for name, (numbers, there, uses) in weights.items():
        own = FLOAT64 * numbers // math.prod(config[axis] for axis in CUT.get(name, []))
        sizes = {axis: config[axis] for axis in summed_over(name, config)}
        if "pp" in sizes:
            sizes["pp"] = min(sizes["pp"], 2)
        if config["zero3"]:
            n = sizes.pop("dp")
            own = FLOAT64 * -(-own // (FLOAT64 * n))
            wire += uses * rounds * 3 * (n - 1) * own
        n = math.prod(sizes.values())
        held += there * own
        wire += there * 2 * own * (n - 1) / n

    sequences = shape["batch"] // (config["dp"] * config["ep"])
    tokens = sequences * shape["sequence"] // config["cp"]
    a = FLOAT64 * tokens * h
    tp, cp, ep = config["tp"], config["cp"], config["ep"]
    wire += layers * 8 * a * (tp - 1) / tp
    wire += layers * 4 * a / tp * (cp - 1)
    wire += layers * 4 * shape["experts"] * a * (ep - 1) / ep
    wire += ((not first) + (not last)) * a / (tp if config["sp"] else 1)
    return {"weights": held, "gradients": held, "states": 2 * held, "wire": wire}
    # end answer
