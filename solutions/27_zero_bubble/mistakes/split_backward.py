"""Wrong answers to split_backward that learners give."""

import torch
from torch.autograd.graph import get_gradient_edge


# over-budget, held-for-w: Keeps what each layer gives, as the end of its graph.
def the_end_of_each_graph(layers, x):
    kept = []
    for layer in layers:
        x = x.detach().requires_grad_()
        y = layer(x)
        kept.append((layer, x, y))
        x = y
    return y.detach(), kept


# wrong-result, not-in-the-graph: Cuts the graph, and lets nothing begin behind the cut.
def cut_without_a_beginning(layers, x):
    kept = []
    for layer in layers:
        x = x.detach()
        y = layer(x)
        kept.append((layer, x, get_gradient_edge(y) if y.requires_grad else y))
        x = y
    return y.detach(), kept


# wrong-result, wrong-form: Returns y alone, as a layer does.
def y_alone(layers, x):
    for layer in layers:
        x = layer(x)
    return x.detach()


# over-budget, run-again: Runs each layer once to see what comes out, and once for the graph.
def runs_each_layer_twice(layers, x):
    kept = []
    for layer in layers:
        x = x.detach().requires_grad_()
        kept.append((layer, x, get_gradient_edge(layer(x))))
        x = layer(x)
    return x.detach(), kept


# over-budget, weights-too-early, for input_gradient: Asks for all that there is, and uses a part.
def asks_for_everything(kept, gradient):
    left = []
    while kept:
        layer, x, y = kept.pop()
        weights = list(layer.parameters())
        if weights:
            left.append((y, weights, gradient))
        gradient, *_ = torch.autograd.grad(y, [x, *weights], gradient, retain_graph=bool(weights))
    return gradient, left


# wrong-result, graph-gone, for input_gradient: Lets go of every graph, since I is over.
def lets_go_of_every_graph(kept, gradient):
    left = []
    while kept:
        layer, x, y = kept.pop()
        if list(layer.parameters()):
            left.append((y, list(layer.parameters()), gradient))
        (gradient,) = torch.autograd.grad(y, x, gradient)
    return gradient, left


# wrong-result, other-order, for weight_gradients: Takes the pieces as I came by them.
def last_layer_first(left):
    found = []
    for y, weights, gradient in left:
        found += torch.autograd.grad(y, weights, gradient)
    return found


# wrong-result, added-up, for weight_gradients: Lets backward fill .grad, and hands that out.
def what_grad_holds(left):
    found = []
    for y, weights, gradient in reversed(left):
        torch.autograd.backward(y, gradient, inputs=weights)
        found += [each.grad for each in weights]
    return found
