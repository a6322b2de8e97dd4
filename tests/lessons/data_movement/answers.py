"""Answers to lesson 12 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

_BACKWARD = """        dx = dout * (below + v * density)
        return dx, dx.sum_to_size(bias.shape)
"""
RIGHT: dict[tuple[str, str], Changes] = {
    ("cross_entropy", "the target written out where it is used"): (
        ("    right = target[row]\n", ""),
        ("logits[row, right]", "logits[row, target[row]]"),
        ("col == right", "col == target[row]"),
    ),
    ("bias_gelu", "one row after the other"): (
        ("                kept[k] = x[row, col]\n", "                kept[k] = shift\n"),
        ("v = kept[k] + shift", "v = x[row, col] + kept[k]"),
    ),
    ("adamw", "the decay as a factor"): (
        ("old -= rate * decay * old", "old *= float32(1) - rate * decay"),
    ),
    ("rmsnorm", "the weight before the size"): (
        ("kept[k] * size * weight[col]", "kept[k] * weight[col] * size"),
    ),
    ("residual_layernorm", "a difference, then the weight"): (
        ("away = (kept[k] - mean) * rstd\n", "away = kept[k] * rstd - mean * rstd\n"),
    ),
    ("dropout", "asks which are dropped"): (
        (
            "kept[k] * scale if c[k] >= least else float32(0)",
            "float32(0) if c[k] < least else kept[k] * scale",
        ),
    ),
    ("cross_entropy", "one number at a time"): (("AT_ONCE = 4", "AT_ONCE = 1"),),
    ("kernel_as_operator", "out lies in memory as x does, and so says the fake"): (
        ("        return out\n", "        return torch.empty_like(x).copy_(out)\n"),
        ("        return x.new_empty(x.shape)\n", "        return torch.empty_like(x)\n"),
    ),
    ("kernel_as_operator", "the gradient by PyTorch's own operation"): (
        (
            _BACKWARD,
            (
                "        dx = torch.ops.aten.gelu_backward(dout, v)\n"
                "        return dx, dx.sum_to_size(bias.shape)\n"
            ),
        ),
    ),
    ("kernel_as_operator", "autograd adds up over the rows"): (
        ("return dx, dx.sum_to_size(bias.shape)", "return dx, dx"),
    ),
    ("kernel_as_operator", "keeps the sum, and not its parts"): (
        ("ctx.save_for_backward(*inputs)", "ctx.save_for_backward(sum(inputs), inputs[1])"),
        ("        v = x + bias\n", "        v = x\n"),
    ),
    ("kernel_as_operator", "the gradients that are asked for alone"): (
        (
            "return dx, dx.sum_to_size(bias.shape)",
            (
                "asked = ctx.needs_input_grad\n"
                "        total = dx.sum_to_size(bias.shape) if asked[1] else None\n"
                "        return (dx if asked[0] else None), total"
            ),
        ),
    ),
    ("kernel_as_operator", "the overload that PyTorch has registered"): (
        ("    return bias_gelu\n", "    return torch.ops.course.bias_gelu.default\n"),
    ),
}
CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("kernel_as_operator", "out lies as x does, and the fake does not know"): (
        "fake-differs",
        (("        return out\n", "        return torch.empty_like(x).copy_(out)\n"),),
    ),
    ("kernel_as_operator", "an if on a number of the gradient"): (
        "not-traced",
        (
            (
                _BACKWARD,
                f"        if dout.abs().sum() == 0:\n            return dout, None\n{_BACKWARD}",
            ),
        ),
    ),
    ("kernel_as_operator", "in double precision all the way"): (
        "other-dtype",
        (("        return out\n", "        return out.double()\n"),),
    ),
    ("kernel_as_operator", "a view of the output's first row alone"): (
        "other-shape",
        (("        return out\n", "        return out[:1] if out.dim() > 1 else out\n"),),
    ),
    ("kernel_as_operator", "no gradient for x"): (
        "no-gradient",
        (
            (
                "return dx, dx.sum_to_size(bias.shape)",
                "return None, dx.sum_to_size(bias.shape)",
            ),
        ),
    ),
}
