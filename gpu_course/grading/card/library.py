"""PyTorch's own call for the work of a puzzle: what a kernel is held against on a card.

A call gets the puzzle's inputs as tensors and returns what the puzzle expects, in the order of its
outputs; those that only one way of doing it needs come last, and are left out. A test compares each
with the puzzle's reference on the CPU; on a card it is compared again at the size that is timed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Call:
    """A library's call for the same work.

    Attributes:
        words: how a record and a table name it.
        run: (torch, inputs by name) -> the outputs, one or a tuple.
    """

    words: str
    run: Callable[[Any, Values], Any]


def _gelu(torch: Any, v: Values) -> Any:
    gelu = torch.nn.functional.gelu
    return gelu(torch.addmm(v["bias"], v["a"], v["w"]))


def _embedding(torch: Any, v: Values) -> Any:
    return torch.nn.functional.embedding(v["ids"], v["table"])


def _sparse(torch: Any, v: Values) -> Any:
    shape = (v["rows"], v["x"].shape[0])
    given = v["starts"], v["columns"], v["values"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch calls such tensors beta
        matrix = torch.sparse_csr_tensor(*given, shape, check_invariants=False)
    return matrix @ v["x"]


def _attention(torch: Any, v: Values, causal: bool = False) -> Any:
    """Whatever of PyTorch's ways does float32 on this card.

    With `is_causal` it lines up the first query with the first key, the course the last of both.
    """
    n, m = v["n"], v["m"]
    square = causal and n == m
    given = [v[name][None, None] for name in "qkv"]
    mask = v["q"].new_ones((n, m), dtype=torch.bool).tril(m - n) if causal and n != m else None
    attention = torch.nn.functional.scaled_dot_product_attention
    found = attention(*given, attn_mask=mask, is_causal=square, scale=float(v["scale"]))
    return found[0, 0]


def _rms_norm(torch: Any, v: Values) -> Any:
    return torch.nn.functional.rms_norm(v["x"], (v["cols"],), v["weight"], float(v["eps"]))


def _layer_norm(torch: Any, v: Values) -> Any:
    total = v["x"] + v["residual"]
    shape, eps = (v["cols"],), float(v["eps"])
    return torch.nn.functional.layer_norm(total, shape, v["weight"], v["bias"], eps), total


_ATTENTION = Call("scaled_dot_product_attention(q, k, v)", _attention)
_SOFTMAX = Call("torch.softmax(x, 1)", lambda torch, v: v["x"].softmax(1))
_PRODUCT = Call("torch.mm(a, b)", lambda torch, v: torch.mm(v["a"], v["b"]))
_TURNED = Call("a.T.contiguous()", lambda torch, v: v["a"].T.contiguous())
_RUNNING = Call("torch.cumsum(a, 0)", lambda torch, v: torch.cumsum(v["a"], 0))

CALLS: dict[str, Call] = {
    "blocks": Call("a * a", lambda torch, v: v["a"] * v["a"]),
    "blocks_2d": Call("a + bias", lambda torch, v: v["a"] + v["bias"]),
    "clip": Call("torch.clamp(a, low, high)", lambda torch, v: v["a"].clamp(v["low"], v["high"])),
    "copy_coalesced": Call("a.clone()", lambda torch, v: v["a"].clone()),
    "sum_columns": Call("a.sum(0)", lambda torch, v: v["a"].sum(0)),
    "sum_rows": Call("a.sum(1)", lambda torch, v: v["a"].sum(1)),
    "embedding_lookup": Call("torch.nn.functional.embedding(ids, table)", _embedding),
    "transpose_naive": _TURNED,
    "transpose_tiled": _TURNED,
    "transpose_padded": _TURNED,
    "axis_sum": Call("a.sum(1)", lambda torch, v: v["a"].sum(1)),
    "argmax": Call("a.argmax(1)", lambda torch, v: v["a"].argmax(1)),
    "grid_sum": Call("a.sum()", lambda torch, v: v["a"].sum().reshape(1)),
    "scan_grid": _RUNNING,
    "scan_lookback": _RUNNING,
    "matmul_naive": _PRODUCT,
    "matmul_tiled": _PRODUCT,
    "matmul_register": _PRODUCT,
    "matmul_vectorized": _PRODUCT,
    "matmul_double_buffered": _PRODUCT,
    "matvec": Call("torch.mv(a, x)", lambda torch, v: torch.mv(v["a"], v["x"])),
    "batched_matmul": Call(
        "torch.bmm(q, keys.mT)", lambda torch, v: torch.bmm(v["q"], v["keys"].mT)
    ),
    "matmul_bias_gelu": Call("gelu(torch.addmm(bias, a, w))", _gelu),
    "spmv_csr": Call("a sparse CSR tensor @ x", _sparse),
    "bias_gelu": Call(
        "gelu(x + bias)", lambda torch, v: torch.nn.functional.gelu(v["x"] + v["bias"])
    ),
    "rmsnorm": Call("torch.nn.functional.rms_norm(x, weight)", _rms_norm),
    "residual_layernorm": Call("layer_norm(x + residual, weight, bias)", _layer_norm),
    "softmax": _SOFTMAX,
    "softmax_online": _SOFTMAX,
    "softmax_backward": Call(
        "torch._softmax_backward_data(dy, y)",
        lambda torch, v: torch._softmax_backward_data(v["dy"], v["y"], -1, torch.float32),
    ),
    "attention_naive": _ATTENTION,
    "flash_attention": _ATTENTION,
    "flash_attention_causal": Call(
        "scaled_dot_product_attention(q, k, v, is_causal=True)",
        lambda torch, v: _attention(torch, v, causal=True),
    ),
}
"""By a puzzle's short name; a puzzle that is not here has no such call."""


def without_tf32(torch: Any) -> None:
    """Has PyTorch multiply float32 in float32: what TF32 rounds, no kernel of the course does.

    Source: PyTorch documentation, "CUDA semantics", "TensorFloat-32 (TF32) on Ampere (and later)".
    """
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


def tensors(torch: Any, inputs: Values, device: str) -> dict[str, Any]:
    """Returns a puzzle's inputs with each array as a tensor on a device; numbers stay."""
    return {
        name: torch.from_numpy(np.ascontiguousarray(value)).to(device)
        if isinstance(value, np.ndarray)
        else value
        for name, value in inputs.items()
    }


def results(outcome: Any) -> tuple[np.ndarray, ...]:
    """Returns what a call gave, as NumPy arrays."""
    parts = outcome if isinstance(outcome, tuple) else (outcome,)
    return tuple(part.cpu().numpy() for part in parts)
