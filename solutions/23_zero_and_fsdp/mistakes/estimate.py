"""Wrong answers to estimate that people give."""


# wrong-result, no-buffer: The estimate is what is needed.
def without_the_factor(stage, parameters, largest, gpus, nodes, offload):
    ranks = gpus * nodes
    if stage == 2:
        if offload == "nothing":
            host = 4 * gpus * parameters
            gpu = 2 * parameters + 18 * parameters // ranks
        else:
            host = max(4 * ranks, 16) * parameters
            gpu = 2 * parameters
    elif offload == "nothing":
        host = 4 * gpus * largest
        gpu = 4 * largest + 18 * parameters // ranks
    elif offload == "optimizer":
        host = 16 * parameters / nodes
        gpu = 4 * largest + 2 * parameters // ranks
    else:
        host = 18 * parameters / nodes
        gpu = 4 * largest
    return int(host), gpu


# wrong-result, rounded-otherwise: Each of the cut things is a whole number of bytes.
def rounds_part_by_part(stage, parameters, largest, gpus, nodes, offload):
    ranks = gpus * nodes
    weight, state = 2 * parameters // ranks, 4 * parameters // ranks
    if stage == 2:
        if offload == "nothing":
            host = 4 * gpus * parameters
            gpu = 2 * parameters + weight + 4 * state
        else:
            host = max(4 * ranks, 16) * parameters
            gpu = 2 * parameters
    elif offload == "nothing":
        host = 4 * gpus * largest
        gpu = 4 * largest + weight + 4 * state
    elif offload == "optimizer":
        host = 16 * parameters / nodes
        gpu = 4 * largest + weight
    else:
        host = 18 * parameters / nodes
        gpu = 4 * largest
    return int(1.5 * host), gpu


# wrong-result, rounded-otherwise: Half a byte more or less.
def rounds_to_the_nearest(stage, parameters, largest, gpus, nodes, offload):
    ranks = gpus * nodes
    if stage == 2:
        if offload == "nothing":
            host = 4 * gpus * parameters
            gpu = 2 * parameters + 18 * parameters / ranks
        else:
            host = max(4 * ranks, 16) * parameters
            gpu = 2 * parameters
    elif offload == "nothing":
        host = 4 * gpus * largest
        gpu = 4 * largest + 18 * parameters / ranks
    elif offload == "optimizer":
        host = 16 * parameters / nodes
        gpu = 4 * largest + 2 * parameters / ranks
    else:
        host = 18 * parameters / nodes
        gpu = 4 * largest
    return round(1.5 * host), round(gpu)


# wrong-result, no-gradient-32: ZeRO's 12 bytes of states.
def as_the_paper_counts(stage, parameters, largest, gpus, nodes, offload):
    ranks = gpus * nodes
    if stage == 2:
        if offload == "nothing":
            host = 4 * gpus * parameters
            gpu = 2 * parameters + 14 * parameters // ranks
        else:
            host = max(4 * ranks, 12) * parameters
            gpu = 2 * parameters
    elif offload == "nothing":
        host = 4 * gpus * largest
        gpu = 4 * largest + 14 * parameters // ranks
    elif offload == "optimizer":
        host = 12 * parameters / nodes
        gpu = 4 * largest + 2 * parameters // ranks
    else:
        host = 14 * parameters / nodes
        gpu = 4 * largest
    return int(1.5 * host), gpu


# wrong-result, gradient-16-whole: Every GPU computes all gradients, so it has them.
def whole_gradients(stage, parameters, largest, gpus, nodes, offload):
    ranks = gpus * nodes
    if stage == 2:
        if offload == "nothing":
            host = 4 * gpus * parameters
            gpu = 4 * parameters + 16 * parameters // ranks
        else:
            host = max(4 * ranks, 16) * parameters
            gpu = 2 * parameters
    elif offload == "nothing":
        host = 4 * gpus * largest
        gpu = 4 * largest + 18 * parameters // ranks
    elif offload == "optimizer":
        host = 16 * parameters / nodes
        gpu = 4 * largest + 2 * parameters // ranks
    else:
        host = 18 * parameters / nodes
        gpu = 4 * largest
    return int(1.5 * host), gpu


# wrong-result, per-node: The GPUs that share are those beside each other.
def over_one_node(stage, parameters, largest, gpus, nodes, offload):
    ranks = gpus
    if stage == 2:
        if offload == "nothing":
            host = 4 * gpus * parameters
            gpu = 2 * parameters + 18 * parameters // ranks
        else:
            host = max(4 * gpus * nodes, 16) * parameters
            gpu = 2 * parameters
    elif offload == "nothing":
        host = 4 * gpus * largest
        gpu = 4 * largest + 18 * parameters // ranks
    elif offload == "optimizer":
        host = 16 * parameters
        gpu = 4 * largest + 2 * parameters // ranks
    else:
        host = 18 * parameters
        gpu = 4 * largest
    return int(1.5 * host), gpu


# wrong-result, no-layer: Everything is cut, so nothing is whole.
def forgets_the_layer(stage, parameters, largest, gpus, nodes, offload):
    ranks = gpus * nodes
    if stage == 2:
        if offload == "nothing":
            host = 4 * gpus * parameters
            gpu = 2 * parameters + 18 * parameters // ranks
        else:
            host = max(4 * ranks, 16) * parameters
            gpu = 2 * parameters
    elif offload == "nothing":
        host = 4 * gpus * largest
        gpu = 18 * parameters // ranks
    elif offload == "optimizer":
        host = 16 * parameters / nodes
        gpu = 2 * parameters // ranks
    else:
        host = 18 * parameters / nodes
        gpu = 0
    return int(1.5 * host), gpu


# wrong-result, layer-once: The largest layer is gathered: 2 bytes.
def layer_without_gradient(stage, parameters, largest, gpus, nodes, offload):
    ranks = gpus * nodes
    if stage == 2:
        if offload == "nothing":
            host = 4 * gpus * parameters
            gpu = 2 * parameters + 18 * parameters // ranks
        else:
            host = max(4 * ranks, 16) * parameters
            gpu = 2 * parameters
    elif offload == "nothing":
        host = 4 * gpus * largest
        gpu = 2 * largest + 18 * parameters // ranks
    elif offload == "optimizer":
        host = 16 * parameters / nodes
        gpu = 2 * largest + 2 * parameters // ranks
    else:
        host = 18 * parameters / nodes
        gpu = 2 * largest
    return int(1.5 * host), gpu


# wrong-result, swapped: The GPU is what people ask about.
def gpu_first(stage, parameters, largest, gpus, nodes, offload):
    ranks = gpus * nodes
    if stage == 2:
        if offload == "nothing":
            host = 4 * gpus * parameters
            gpu = 2 * parameters + 18 * parameters // ranks
        else:
            host = max(4 * ranks, 16) * parameters
            gpu = 2 * parameters
    elif offload == "nothing":
        host = 4 * gpus * largest
        gpu = 4 * largest + 18 * parameters // ranks
    elif offload == "optimizer":
        host = 16 * parameters / nodes
        gpu = 4 * largest + 2 * parameters // ranks
    else:
        host = 18 * parameters / nodes
        gpu = 4 * largest
    return gpu, int(1.5 * host)


# wrong-result, made-in-16-bits: The model has 16-bit weights from the start.
def made_in_16_bits(stage, parameters, largest, gpus, nodes, offload):
    ranks = gpus * nodes
    if stage == 2:
        if offload == "nothing":
            host = 2 * gpus * parameters
            gpu = 2 * parameters + 18 * parameters // ranks
        else:
            host = max(2 * ranks, 16) * parameters
            gpu = 2 * parameters
    elif offload == "nothing":
        host = 2 * gpus * largest
        gpu = 4 * largest + 18 * parameters // ranks
    elif offload == "optimizer":
        host = 16 * parameters / nodes
        gpu = 4 * largest + 2 * parameters // ranks
    else:
        host = 18 * parameters / nodes
        gpu = 4 * largest
    return int(1.5 * host), gpu


# wrong-result, made-forgotten: What lies on the host is the states.
def forgets_the_making(stage, parameters, largest, gpus, nodes, offload):
    ranks = gpus * nodes
    if stage == 2:
        if offload == "nothing":
            host = 4 * gpus * parameters
            gpu = 2 * parameters + 18 * parameters // ranks
        else:
            host = 16 * parameters
            gpu = 2 * parameters
    elif offload == "nothing":
        host = 4 * gpus * largest
        gpu = 4 * largest + 18 * parameters // ranks
    elif offload == "optimizer":
        host = 16 * parameters / nodes
        gpu = 4 * largest + 2 * parameters // ranks
    else:
        host = 18 * parameters / nodes
        gpu = 4 * largest
    return int(1.5 * host), gpu
