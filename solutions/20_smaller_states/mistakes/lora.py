"""Wrong answers to lora that people give."""

import torch


# wrong-result, moves-at-start: The layer is another one before any training.
def both_random(linear, rank, alpha):
    class LoRA(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear.requires_grad_(False)
            outer, inner = linear.weight.shape
            self.A = torch.nn.Parameter(torch.randn(rank, inner, dtype=linear.weight.dtype))
            self.B = torch.nn.Parameter(torch.randn(outer, rank, dtype=linear.weight.dtype))

        def forward(self, x):
            return self.linear(x) + alpha / rank * ((x @ self.A.T) @ self.B.T)

    return LoRA()


# wrong-result, no-bias: The layer's weight is not all of the layer.
def forgets_the_bias(linear, rank, alpha):
    class LoRA(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear.requires_grad_(False)
            outer, inner = linear.weight.shape
            self.A = torch.nn.Parameter(torch.randn(rank, inner, dtype=linear.weight.dtype))
            self.B = torch.nn.Parameter(linear.weight.new_zeros(outer, rank))

        def forward(self, x):
            return x @ self.linear.weight.T + alpha / rank * ((x @ self.A.T) @ self.B.T)

    return LoRA()


# wrong-result, both-zero: The gradient of each has the other as a factor.
def both_zero(linear, rank, alpha):
    class LoRA(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear.requires_grad_(False)
            outer, inner = linear.weight.shape
            self.A = torch.nn.Parameter(linear.weight.new_zeros(rank, inner))
            self.B = torch.nn.Parameter(linear.weight.new_zeros(outer, rank))

        def forward(self, x):
            return self.linear(x) + alpha / rank * ((x @ self.A.T) @ self.B.T)

    return LoRA()


# wrong-result, not-frozen: The layer goes on being trained, with a gradient and two moments.
def layer_left_trainable(linear, rank, alpha):
    class LoRA(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear
            outer, inner = linear.weight.shape
            self.A = torch.nn.Parameter(torch.randn(rank, inner, dtype=linear.weight.dtype))
            self.B = torch.nn.Parameter(linear.weight.new_zeros(outer, rank))

        def forward(self, x):
            return self.linear(x) + alpha / rank * ((x @ self.A.T) @ self.B.T)

    return LoRA()


# wrong-result, scale: Another rank would need another learning rate.
def alpha_alone(linear, rank, alpha):
    class LoRA(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear.requires_grad_(False)
            outer, inner = linear.weight.shape
            self.A = torch.nn.Parameter(torch.randn(rank, inner, dtype=linear.weight.dtype))
            self.B = torch.nn.Parameter(linear.weight.new_zeros(outer, rank))

        def forward(self, x):
            return self.linear(x) + alpha * ((x @ self.A.T) @ self.B.T)

    return LoRA()


# wrong-result, scale: Whatever alpha is.
def no_factor(linear, rank, alpha):
    class LoRA(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear.requires_grad_(False)
            outer, inner = linear.weight.shape
            self.A = torch.nn.Parameter(torch.randn(rank, inner, dtype=linear.weight.dtype))
            self.B = torch.nn.Parameter(linear.weight.new_zeros(outer, rank))

        def forward(self, x):
            return self.linear(x) + ((x @ self.A.T) @ self.B.T)

    return LoRA()


# wrong-result, scale: A rule of another paper.
def root_of_the_rank(linear, rank, alpha):
    class LoRA(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear.requires_grad_(False)
            outer, inner = linear.weight.shape
            self.A = torch.nn.Parameter(torch.randn(rank, inner, dtype=linear.weight.dtype))
            self.B = torch.nn.Parameter(linear.weight.new_zeros(outer, rank))

        def forward(self, x):
            return self.linear(x) + alpha / rank**0.5 * ((x @ self.A.T) @ self.B.T)

    return LoRA()


# wrong-result, detour-alone: Takes the place of the layer.
def detour_alone(linear, rank, alpha):
    class LoRA(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear.requires_grad_(False)
            outer, inner = linear.weight.shape
            self.A = torch.nn.Parameter(torch.randn(rank, inner, dtype=linear.weight.dtype))
            self.B = torch.nn.Parameter(linear.weight.new_zeros(outer, rank))

        def forward(self, x):
            return alpha / rank * ((x @ self.A.T) @ self.B.T)

    return LoRA()


# wrong-result, gradient-of-x: Takes x for data, which nothing has to learn from.
def cuts_x_off(linear, rank, alpha):
    class LoRA(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear.requires_grad_(False)
            outer, inner = linear.weight.shape
            self.A = torch.nn.Parameter(torch.randn(rank, inner, dtype=linear.weight.dtype))
            self.B = torch.nn.Parameter(linear.weight.new_zeros(outer, rank))

        def forward(self, x):
            x = x.detach()
            return self.linear(x) + alpha / rank * ((x @ self.A.T) @ self.B.T)

    return LoRA()


# wrong-result, gradient-of-x: A frozen layer needs no gradient, and what lies in front of it
# does.
def layer_without_a_graph(linear, rank, alpha):
    class LoRA(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear.requires_grad_(False)
            outer, inner = linear.weight.shape
            self.A = torch.nn.Parameter(torch.randn(rank, inner, dtype=linear.weight.dtype))
            self.B = torch.nn.Parameter(linear.weight.new_zeros(outer, rank))

        def forward(self, x):
            with torch.no_grad():
                plain = self.linear(x)
            return plain + alpha / rank * ((x @ self.A.T) @ self.B.T)

    return LoRA()


# over-budget, whole-product: A matrix as large as the weight, in every forward pass.
def works_out_the_product(linear, rank, alpha):
    class LoRA(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear.requires_grad_(False)
            outer, inner = linear.weight.shape
            self.A = torch.nn.Parameter(torch.randn(rank, inner, dtype=linear.weight.dtype))
            self.B = torch.nn.Parameter(linear.weight.new_zeros(outer, rank))

        def forward(self, x):
            return self.linear(x) + alpha / rank * (x @ (self.B @ self.A).T)

    return LoRA()


# wrong-result, no-names: Right, and nobody finds the two matrices.
def other_names(linear, rank, alpha):
    class LoRA(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear.requires_grad_(False)
            outer, inner = linear.weight.shape
            self.down = torch.nn.Parameter(torch.randn(rank, inner, dtype=linear.weight.dtype))
            self.up = torch.nn.Parameter(linear.weight.new_zeros(outer, rank))

        def forward(self, x):
            return self.linear(x) + alpha / rank * ((x @ self.down.T) @ self.up.T)

    return LoRA()


# wrong-result, alike: Not zero, and yet every row of A learns what the first one learns.
def rows_of_ones(linear, rank, alpha):
    class LoRA(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear.requires_grad_(False)
            outer, inner = linear.weight.shape
            self.A = torch.nn.Parameter(linear.weight.new_ones(rank, inner))
            self.B = torch.nn.Parameter(linear.weight.new_zeros(outer, rank))

        def forward(self, x):
            return self.linear(x) + alpha / rank * ((x @ self.A.T) @ self.B.T)

    return LoRA()


# wrong-result, alike: Rows that differ in the ninth place: of full rank on paper alone.
def rows_almost_alike(linear, rank, alpha):
    class LoRA(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear.requires_grad_(False)
            outer, inner = linear.weight.shape
            numbers = torch.randn(rank, inner, dtype=linear.weight.dtype)
            self.A = torch.nn.Parameter(1 + 1e-9 * numbers)
            self.B = torch.nn.Parameter(linear.weight.new_zeros(outer, rank))

        def forward(self, x):
            return self.linear(x) + alpha / rank * ((x @ self.A.T) @ self.B.T)

    return LoRA()


# wrong-result, start-size: Of full rank, and so small that B gets no gradient to speak of.
def next_to_nothing(linear, rank, alpha):
    class LoRA(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear.requires_grad_(False)
            outer, inner = linear.weight.shape
            numbers = torch.randn(rank, inner, dtype=linear.weight.dtype)
            self.A = torch.nn.Parameter(1e-30 * numbers)
            self.B = torch.nn.Parameter(linear.weight.new_zeros(outer, rank))

        def forward(self, x):
            return self.linear(x) + alpha / rank * ((x @ self.A.T) @ self.B.T)

    return LoRA()


# wrong-result, seven-digits: The dtype is kept, and half of the digits are lost on the way.
def works_in_float32(linear, rank, alpha):
    class LoRA(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear.requires_grad_(False)
            outer, inner = linear.weight.shape
            self.A = torch.nn.Parameter(torch.randn(rank, inner, dtype=linear.weight.dtype))
            self.B = torch.nn.Parameter(linear.weight.new_zeros(outer, rank))

        def forward(self, x):
            x = x.float().double()
            return self.linear(x) + alpha / rank * ((x @ self.A.T) @ self.B.T)

    return LoRA()
