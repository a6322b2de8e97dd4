"""Wrong answers to one_model_every_axis that people give."""

import math

CUT = {"qkv": ["tp"], "out": ["tp"], "up": ["tp", "ep"], "down": ["tp", "ep"]}
FLOAT64 = 8


def rule(name, config):
    axes = ["dp", "cp"]
    if name not in ("up", "down"):
        axes.append("ep")
    if name == "router" or (config["sp"] and name not in CUT):
        axes.append("tp")
    if name == "tokens":
        axes.append("pp")
    return axes


def foretold(config, shape, place, **other):
    """What the solution foretells, with some numbers replaced."""
    first, last = place["pp"] == 0, place["pp"] == config["pp"] - 1
    layers, rounds = shape["layers"] // config["pp"], other.get("rounds", shape["microbatches"])
    h, experts = shape["hidden"], shape["experts"] * shape["inside"] * shape["hidden"]
    ends = other.get("ends", first + last)
    weights = {
        "tokens": (shape["vocabulary"] * h, other.get("tables", first or last), ends),
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
        cut = math.prod(config[axis] for axis in other.get("cut", CUT).get(name, []))
        own = FLOAT64 * numbers // cut
        sizes = {axis: config[axis] for axis in rule(name, config)}
        if "pp" in sizes:
            sizes["pp"] = min(sizes["pp"], other.get("stages", 2))
        if config["zero3"]:
            n = sizes.pop("dp")
            numbers_each = own // FLOAT64
            own = FLOAT64 * (numbers_each // n if other.get("down") else -(-numbers_each // n))
            wire += uses * rounds * other.get("gathers", 3) * (n - 1) * own
        held += there * own
        if other.get("apart"):
            wire += sum(there * 2 * own * (n - 1) / n for n in sizes.values())
        else:
            n = math.prod(sizes.values())
            wire += there * other.get("ring", 2) * own * (n - 1) / n
    tokens = shape["batch"] // (config["dp"] * config["ep"]) * shape["sequence"] // config["cp"]
    a = FLOAT64 * tokens * h
    tp, cp, ep = config["tp"], config["cp"], config["ep"]
    wire += layers * (4 if config["sp"] and other.get("half") else 8) * a * (tp - 1) / tp
    wire += layers * other.get("kv", 4) * a / tp * (cp - 1)
    wire += (
        layers * other.get("trips", 4) * other.get("copies", shape["experts"]) * a * (ep - 1) / ep
    )
    neighbours = other.get("neighbours", (not first) + (not last))
    wire += neighbours * a / (tp if config["sp"] and not other.get("whole") else 1)
    return {
        "weights": held,
        "gradients": held,
        "states": other.get("states", 2) * held,
        "wire": wire,
    }


# wrong-result, norms-apart: Norms are the same on all ranks of tp, so nothing is summed.
def norms_are_the_same(name, config):
    return [axis for axis in rule(name, config) if axis != "tp" or name == "router"]


# wrong-result, summed-too-often: What is not cut over tp is summed over it.
def whatever_is_not_cut(name, config):
    return [*rule(name, config), "tp"] if name not in CUT else rule(name, config)


# wrong-result, cut-weights-summed: Everything is summed over everything but the stages.
def over_all_axes(name, config):
    return ["dp", "cp", "ep", "tp", *(["pp"] if name == "tokens" else [])]


# wrong-result, router-apart: The router is whole on every rank, as the norms are.
def the_router_as_the_norms(name, config):
    return [
        axis for axis in rule(name, config) if axis != "tp" or config["sp"] and name != "router"
    ]


# wrong-result, router-apart: Without sp the ranks of tp have seen the same tokens.
def the_router_with_sp_alone(name, config):
    return [axis for axis in rule(name, config) if axis != "tp" or config["sp"]]


# wrong-result, tied-apart: Each stage sees to its own weights.
def each_stage_for_itself(name, config):
    return [axis for axis in rule(name, config) if axis != "pp"]


# wrong-result, every-stage: All weights are summed over all stages.
def over_the_stages(name, config):
    return [*rule(name, config), "pp"]


# wrong-result, experts-mixed: Ranks of ep have sequences of their own, as those of dp.
def experts_as_all_others(name, config):
    return [*rule(name, config), "ep"]


# wrong-result, sequences-apart: Gradients are summed over dp, and that is that.
def over_dp_alone(name, config):
    return [axis for axis in rule(name, config) if axis != "ep"]


# wrong-result, tokens-apart: Ranks of cp work on the same sequence.
def not_over_cp(name, config):
    return [axis for axis in rule(name, config) if axis != "cp"]


# wrong-result, no-axes: Returns whether it is summed.
def whether_it_is_summed(name, config):
    return bool(rule(name, config))


# wrong-result, not-the-four, for bytes_per_rank: Returns the sum of all bytes.
def all_bytes_together(config, shape, place):
    return sum(foretold(config, shape, place).values())


# wrong-result, two-states, for bytes_per_rank: Forgets one of Adam's states.
def one_state(config, shape, place):
    return foretold(config, shape, place, states=1)


# wrong-result, ring-once, for bytes_per_rank: Counts each gradient once on its ring.
def once_round_the_ring(config, shape, place):
    return foretold(config, shape, place, ring=1)


# wrong-result, one-after-the-other, for bytes_per_rank: Sums over one axis after the other.
def axis_after_axis(config, shape, place):
    return foretold(config, shape, place, apart=True)


# wrong-result, sp-as-much, for bytes_per_rank: Takes sequence parallelism for half the bytes.
def sp_for_half(config, shape, place):
    return foretold(config, shape, place, half=True)


# wrong-result, kv-forward, for bytes_per_rank: Gathers keys and values, and forgets the way back.
def keys_and_values_forward(config, shape, place):
    return foretold(config, shape, place, kv=2)


# wrong-result, there-alone, for bytes_per_rank: Tokens go to their experts.
def there_and_not_back(config, shape, place):
    return foretold(config, shape, place, trips=2)


# wrong-result, chosen-alone, for bytes_per_rank: Sends a token to the experts that it chose.
def one_copy_of_a_token(config, shape, place):
    return foretold(config, shape, place, copies=1)


# wrong-result, whole-between-stages, for bytes_per_rank: Stages send whole activations.
def whole_activations(config, shape, place):
    return foretold(config, shape, place, whole=True)


# wrong-result, ends-of-the-line, for bytes_per_rank: Every stage has a neighbour on both sides.
def both_neighbours(config, shape, place):
    return foretold(config, shape, place, neighbours=2 * (config["pp"] > 1))


# wrong-result, all-stages-tied, for bytes_per_rank: Sums the table of tokens over all stages.
def the_table_over_all_stages(config, shape, place):
    return foretold(config, shape, place, stages=config["pp"])


# wrong-result, table-twice, for bytes_per_rank: Holds the table of tokens for each of its uses.
def a_table_for_each_end(config, shape, place):
    ends = (place["pp"] == 0) + (place["pp"] == config["pp"] - 1)
    return foretold(config, shape, place, tables=ends)


# wrong-result, used-once, for bytes_per_rank: Gathers the table of tokens once.
def the_table_gathered_once(config, shape, place):
    return foretold(config, shape, place, ends=place["pp"] in (0, config["pp"] - 1))


# wrong-result, gathered-once, for bytes_per_rank: Gathers once, and scatters once.
def gathered_once(config, shape, place):
    return foretold(config, shape, place, gathers=2)


# wrong-result, each-microbatch, for bytes_per_rank: Gathers once in a step.
def once_in_a_step(config, shape, place):
    return foretold(config, shape, place, rounds=1)


# wrong-result, not-filled-up, for bytes_per_rank: Leaves out what the ranks do not divide.
def rounded_down(config, shape, place):
    return foretold(config, shape, place, down=True)


# wrong-result, experts-whole, for bytes_per_rank: Holds all experts on every rank.
def all_experts_everywhere(config, shape, place):
    cut = {name: ["tp"] for name in CUT}
    return foretold(config, shape, place, cut=cut)
