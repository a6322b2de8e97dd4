"""Answers to lesson 27 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

FORWARD = """    kept = []
    for layer in layers:
        x = x.detach().requires_grad_()
        y = layer(x)
        kept.append((layer, x, get_gradient_edge(y)))
        x = y
    return y.detach(), kept
"""
INPUT_GRADIENT = """    left = []
    while kept:
        layer, x, y = kept.pop()
        weights = list(layer.parameters())
        if weights:
            left.append((y, weights, gradient))
        (gradient,) = torch.autograd.grad(y, x, gradient, retain_graph=bool(weights))
    return gradient, left
"""
WEIGHT_GRADIENTS = """    found = []
    while left:
        y, weights, gradient = left.pop()
        found += torch.autograd.grad(y, weights, gradient)
    return found
"""
ONE_GRAPH = """    x = x.detach().requires_grad_()
    y, weights = x, []
    for layer in layers:
        y = layer(y)
        weights += layer.parameters()
    return y.detach(), (x, get_gradient_edge(y), weights)
"""
FIRST_TIME = """    x, y, weights = kept
    (to_x,) = torch.autograd.grad(y, x, gradient, retain_graph=True)
    return to_x, (y, weights, gradient)
"""
SECOND_TIME = """    y, weights, gradient = left
    return torch.autograd.grad(y, weights, gradient)
"""
BOTH_AT_ONCE = """    x, y, weights = kept
    to_x, *found = torch.autograd.grad(y, [x, *weights], gradient)
    return to_x, found
"""
LAYER_AND_INPUT = INPUT_GRADIENT.replace("(y, weights, gradient)", "(layer, x, gradient)")
EACH_LAYER_AGAIN = """    found = []
    while left:
        layer, x, gradient = left.pop()
        found += torch.autograd.grad(layer(x), list(layer.parameters()), gradient)
    return found
"""
ENDS_OF_LAYERS = """    x = x.detach().requires_grad_()
    y, ends = x, []
    for layer in layers:
        y = layer(y)
        if list(layer.parameters()):
            ends.append((layer, y))
    return y.detach(), (x, y, ends)
"""
GRADIENTS_AT_THE_ENDS = """    x, y, ends = kept
    inner = [end for _, end in ends]
    to_x, *found = torch.autograd.grad(y, [x, *inner], gradient, retain_graph=True)
    return to_x, (ends, found)
"""
FROM_THE_ENDS = """    found = []
    for (layer, y), g in zip(*left, strict=True):
        found += torch.autograd.grad(y, list(layer.parameters()), g, retain_graph=True)
    return found
"""
INPUT_ALONE = """    left = []
    while kept:
        layer, x, y = kept.pop()
        weights = list(layer.parameters())
        if weights:
            left.append((x.detach(), len(weights), gradient))
        (gradient,) = torch.autograd.grad(y, x, gradient)
    return gradient, left
"""
BY_HAND = """    found = []
    while left:
        x, weights, gradient = left.pop()
        found += [gradient.T @ x, gradient.sum(0)][:weights]
    return found
"""
PAIRS = """        for _ in range(half - ranks + outside + 1):
            order += [forward(near) + "&" + backward(far, "B")]
"""
FIRST_ONE_APART = """        for each in range(half - ranks + outside + 1):
            both = [forward(near), backward(far, "B")]
            order += both if each + inside == 0 else ["&".join(both)]
"""
I_AT_THE_END = """        for _ in range(outside + 1):
            order += [backward(far, "I"), backward(near, "I")]
"""
SOME_B_AT_THE_END = """        for each in range(outside + 1):
            kinds = ["B" if 2 * each + k <= outside else "I" for k in (0, 1)]
            order += [backward(far, kinds[0]), backward(near, kinds[1])]
"""
W_THEN_F = """            if each >= rank:
                order.append(f"{rank}W{each - rank}")
            if warm + each < microbatches:
                order.append(f"{rank}F{warm + each}")
"""
F_FIRST = """            if warm + each < microbatches and each < rank:
                order.append(f"{rank}F{warm + each}")
            if each >= rank:
                order.append(f"{rank}W{each - rank}")
            if warm + each < microbatches and each >= rank:
                order.append(f"{rank}F{warm + each}")
"""

RIGHT: dict[tuple[str, str], Changes] = {
    ("split_backward", "W by hand"): ((INPUT_GRADIENT, INPUT_ALONE), (WEIGHT_GRADIENTS, BY_HAND)),
    ("split_backward", "pieces that hang together"): (
        ("x = x.detach().requires_grad_()", "x = x.requires_grad_()"),
    ),
    ("zb_h1", "the order written in other words"): ((W_THEN_F, F_FIRST),),
    ("zb_h1", "as one text for each rank"): (
        ("orders.append(order + [", 'orders.append(", ".join(order + ['),
        ("for each in left])", "for each in left]))"),
    ),
    ("zb_h2", "as one text for each rank"): (
        ("orders.append(order + [", 'orders.append(" ".join(order + ['),
        ("for each in left])", "for each in left]))"),
    ),
    ("beat_zb_2p", "fewer tries"): (("range(1, 13)", "(1, 3, 4, 6)"),),
    ("dualpipe", "the first pair in the middle apart"): ((PAIRS, FIRST_ONE_APART),),
    ("dualpipe", "some backward passes whole at the end"): ((I_AT_THE_END, SOME_B_AT_THE_END),),
}
CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("split_backward", "one graph, followed twice"): (
        "second-pass",
        ((FORWARD, ONE_GRAPH), (INPUT_GRADIENT, FIRST_TIME), (WEIGHT_GRADIENTS, SECOND_TIME)),
    ),
    ("split_backward", "both in I"): (
        "weights-too-early",
        (
            (FORWARD, ONE_GRAPH),
            (INPUT_GRADIENT, BOTH_AT_ONCE),
            (WEIGHT_GRADIENTS, "    return left\n"),
        ),
    ),
    ("split_backward", "each layer once more in W"): (
        "run-again",
        ((INPUT_GRADIENT, LAYER_AND_INPUT), (WEIGHT_GRADIENTS, EACH_LAYER_AGAIN)),
    ),
    ("split_backward", "one graph, kept to the end"): (
        "held-for-w",
        (
            (FORWARD, ENDS_OF_LAYERS),
            (INPUT_GRADIENT, GRADIENTS_AT_THE_ENDS),
            (WEIGHT_GRADIENTS, FROM_THE_ENDS),
        ),
    ),
    ("split_backward", "kept on the layers"): (
        "graph-gone",
        (
            ("kept.append((layer, x, get_gradient_edge(y)))", "layer.kept = (layer, x, y)"),
            ("return y.detach(), kept", "return y.detach(), list(layers)"),
            ("layer, x, y = kept.pop()", "layer, x, y = kept.pop().kept"),
        ),
    ),
    ("split_backward", "gradients in float32"): (
        "seven-digits",
        (("grad(y, weights, gradient)", "grad(y, weights, gradient.float().double())"),),
    ),
    ("zb_h1", "one W less put off on each rank"): (
        "slow",
        (
            ("each >= rank:", "each >= max(rank - 1, 0):"),
            ("{each - rank}", "{each - max(rank - 1, 0)}"),
            ("microbatches - rank, ", "microbatches - max(rank - 1, 0), "),
        ),
    ),
    ("zb_h2", "one F less at the beginning"): (
        "slow",
        (("2 * (ranks - rank) - 1, ", "max(1, 2 * (ranks - rank) - 2), "),),
    ),
    ("beat_zb_2p", "no W waits for anything"): (
        "slow",
        (("[0.0, 0.03, 0.1, 0.2, 0.5, 1.0]", "[0.0]"),),
    ),
    ("beat_zb_2p", "one rule for all pipelines"): (
        "slow",
        (("range(1, 13)", "[5]"), ("[0.0, 0.03, 0.1, 0.2, 0.5, 1.0]", "[0.0]")),
    ),
    ("dualpipe", "the W of the end before its I"): (
        "missing",
        (
            ('[put_off.pop(0), backward(near, "I")]', '[backward(near, "I")]'),
            ("return order + put_off", "return order + put_off[1:]"),
        ),
    ),
}
