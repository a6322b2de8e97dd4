"""What FLOP, passes over the scores, and tiles say of attention: nothing else is in these models.

A pass is one reading or one writing of an array. For each head and token pair the scores are n²
numbers, and q, k, v and out n d each; forward takes two products of 2 n² d FLOP, backward five.
"""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.hardware.cards import DeviceCard, device
from gpu_course.units import TERA

CARDS = {name: device(name) for name in ("A100", "H100")}
FP16 = 2
HEADS = 64 * 16
"""Batch and heads of GPT-2 medium in the paper's run."""
N, D = 1024, 64
FORWARD, BACKWARD = 4, 7
"""Passes over n² numbers: Algorithm 0 writes and reads S and P; Algorithm 3, the standard backward
pass, reads P twice, writes and reads dP, and writes dS, which two products read."""
VECTORS = 12
"""Passes over n d numbers of both: q, k, v, out, their gradients, and what is read again."""
EXP_PER_CLOCK = 16
"""Exponentials that an SM does in a clock (CUDA C++ Programming Guide, throughput table)."""


def _bandwidth(card: DeviceCard) -> float:
    """Bytes per second of the data sheet."""
    assert card.bandwidth_bytes_per_s is not None
    return card.bandwidth_bytes_per_s


def _gigabytes(squares: float, vectors: float) -> float:
    return HEADS * FP16 * (squares * N * N + vectors * N * D) / 1e9


@model()
def algorithms_gb() -> float:
    """Returns the GB of the paper's Algorithms 0 and 3, each array moved by each line once."""
    return _gigabytes(FORWARD + BACKWARD, VECTORS)


@model()
def with_mask_and_dropout_gb() -> float:
    """Returns the same with passes of their own for a mask, and for dropout both ways.

    The mask reads and writes S. Dropout reads P, writes it, and writes a mask of a byte; backward
    it reads both and writes dP.
    """
    mask, dropout = 2, 2.5
    return _gigabytes(FORWARD + BACKWARD + mask + 2 * dropout, VECTORS)


@model()
def flash_gb(keys: float) -> float:
    """Returns the GB that FlashAttention's first version asks for: Algorithms 1 and 4.

    Forward reads k and v once; for each tile of keys it reads q and out, and writes out. Backward
    reads k and v and writes their gradients; for each tile it reads q, out, dout, dq and writes dq.

    Args:
        keys: in a tile.
    """
    tiles = N / keys
    return _gigabytes(0, (2 + 3 * tiles) + (4 + 5 * tiles))


@model()
def flash_least_gb() -> float:
    """Returns the GB if each array came once: 4 forwards, and 8 backwards."""
    return _gigabytes(0, 12)


@model()
def one_product_more(gflop: float) -> float:
    """Returns the FLOP of both passes when one of six products is computed again."""
    forward, backward = 2, 4
    return gflop * (forward + backward + 1) / (forward + backward)


@model()
def moved_ms(gb: float) -> float:
    """Returns the ms that an A100 takes to move so many GB, at its data sheet's rate."""
    return gb * 1e9 / _bandwidth(CARDS["A100"]) * 1e3


@model("rate", card=CARDS)
def through_memory(card: DeviceCard, d: float, passes: float, products: float) -> float:
    """Returns the TFLOP/s of attention that waits for its 16-bit scores alone.

    Args:
        d: numbers in a row.
        passes: over the scores.
        products: of 2 n² d FLOP, as the source counts them.
    """
    flop_per_byte = products * 2 * d / (passes * FP16)
    return flop_per_byte * _bandwidth(card) / TERA


@model()
def with_d(tflop_per_s: float, d: float, measured_at: float) -> float:
    """Returns the rate with other rows, if only passes over the scores take time."""
    return tflop_per_s * d / measured_at


@model()
def half_is_counted(tflop_per_s: float) -> float:
    """Returns the rate if the same work is done and half of its FLOP are counted."""
    return tflop_per_s / 2


@model("rate", card=CARDS)
def products_then_exponentials(card: DeviceCard, d: float) -> float:
    """Returns the TFLOP/s if an SM computes its products, and then its exponentials."""
    assert card.fp16_flop_per_s is not None and card.sm_count is not None
    flop = 4 * d
    # The rate of exponentials at the clock that the tensor cores' rate is printed for.
    clock_hz = card.fp16_flop_per_s / (4096 * card.sm_count)
    exponentials = EXP_PER_CLOCK * card.sm_count * clock_hz
    return flop / (flop / card.fp16_flop_per_s + 1 / exponentials) / TERA


@model()
def causal_tiles(tflop_per_s: float, n: float) -> float:
    """Returns the causal rate: useful FLOP over those of all tiles that the mask leaves something.

    Args:
        tflop_per_s: without a mask, at the same length.
        n: queries and keys; tiles are squares of 128.
    """
    tile = 128
    rows = n / tile
    return tflop_per_s * (rows * rows / 2) / (rows * (rows + 1) / 2)


@model()
def same_share_of_h100(tflop_per_s: float) -> float:
    """Returns what an H100 does at the share of its tensor cores' rate that an A100 reached."""
    rates = [CARDS[name].fp16_flop_per_s for name in ("H100", "A100")]
    assert rates[0] is not None and rates[1] is not None
    return tflop_per_s * rates[0] / rates[1]


@model()
def same_kernel(tflop_per_s: float) -> float:
    """Returns the rate that was measured elsewhere, for a kernel of the same name."""
    return tflop_per_s


@model()
def forward_rate(ms: float, batch: float, heads: float, n: float, d: float) -> float:
    """Returns the TFLOP/s of a forward pass without a mask that took so long."""
    return 4 * n * n * d * heads * batch / (ms / 1e3) / TERA


@model()
def fewer_loads(ms: float, factor: float) -> float:
    """Returns the ms if loads alone take time and there are so many times fewer."""
    return ms / factor


@model()
def h100_bandwidth_gb() -> float:
    """Returns the GB/s of an H100's data sheet; an H800 has the same memory."""
    return _bandwidth(CARDS["H100"]) / 1e9


@model()
def tensor_cores_reach(tflop_per_s: float) -> float:
    """Returns the most that tensor cores were seen to do, or can do at the clock they had."""
    return tflop_per_s


@model()
def rows_to_compute_bound(tflop_per_s: float, tb_per_s: float) -> float:
    """Returns query rows for each key from which on compute decides: 2 FLOP a row and byte."""
    return tflop_per_s / tb_per_s / 2
