"""Wrong answers to shared_layers that people give."""

import copy

import torch


# wrong-result, layers-of-their-own: An ordinary stack.
def a_layer_for_each(make_layer, layers):
    return torch.nn.Sequential(*(make_layer() for _ in range(layers)))


# wrong-result, layers-of-their-own: The same numbers, each time in memory of their own.
def copies_of_one(make_layer, layers):
    layer = make_layer()
    return torch.nn.Sequential(*(copy.deepcopy(layer) for _ in range(layers)))


# wrong-result, one-pass: One layer is not a stack.
def once_through(make_layer, layers):
    class Shared(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = make_layer()

        def forward(self, x):
            return self.layer(x)

    return Shared()


# wrong-result, wrong-count: Begins to count at 1.
def once_too_seldom(make_layer, layers):
    class Shared(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = make_layer()

        def forward(self, x):
            for _ in range(1, layers):
                x = self.layer(x)
            return x

    return Shared()


# wrong-result, wrong-count: One pass before the loop.
def once_too_often(make_layer, layers):
    class Shared(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = make_layer()

        def forward(self, x):
            x = self.layer(x)
            for _ in range(layers):
                x = self.layer(x)
            return x

    return Shared()


# wrong-result, no-parameters: Nobody looks into a list.
def in_a_plain_list(make_layer, layers):
    class Shared(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [make_layer()] * layers

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    return Shared()


# wrong-result, last-pass-only: Cuts the history off at every layer.
def detaches_between(make_layer, layers):
    class Shared(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = make_layer()

        def forward(self, x):
            for _ in range(layers):
                x = self.layer(x.detach())
            return x

    return Shared()


# wrong-result, states-of-their-own: Every layer has parameters of its own that lie in the same
# memory.
def shares_memory_alone(make_layer, layers):
    stack = torch.nn.Sequential(*(make_layer() for _ in range(layers)))
    for layer in stack[1:]:
        for own, first in zip(layer.parameters(), stack[0].parameters()):
            own.data = first.data
    return stack


# over-budget, keeps-more: Holds copies of what every layer gave.
def copies_every_output(make_layer, layers):
    class Shared(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = make_layer()

        def forward(self, x):
            self.outputs = []
            for _ in range(layers):
                x = self.layer(x)
                self.outputs.append(x.clone())
            return x

    return Shared()
