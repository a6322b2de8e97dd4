"""Records what torch.compile makes of plain attention and of flex_attention on a CPU.

    python -m benchmarks.record_compiled_attention

It needs a C++ compiler, so what is found is kept in
gpu_course/lessons/softmax_to_flash/compiled_attention.json, from which lesson 13 reads. Times are
the best of several runs on the machine that made the record.
"""

from __future__ import annotations

import json
import platform
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOM = Path(__file__).parents[1] / "gpu_course" / "lessons" / "softmax_to_flash"
RECORD = ROOM / "compiled_attention.json"
HEADS, N, D = 4, 1536, 64
RUNS = 12


def best_ms(call: Callable[[], Any]) -> float:
    """Returns the shortest of several runs, in ms."""
    call()
    found = []
    for _ in range(RUNS):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return 1e3 * min(found)


def described(code: str) -> dict[str, int]:
    """Returns what a generated program has.

    Its C++ kernels, its calls of PyTorch's own fused attention, and buffers that hold all scores.
    """
    return {
        "cpp_kernels": len(re.findall(r"async_compile\.cpp", code)),
        "fused_calls": len(re.findall(r"_scaled_dot_product_\w+(?:\.default)?\(", code)),
        "score_buffers": len(re.findall(rf"= empty_strided_cpu\(\([\d, ]*{N}, {N}\)", code)),
    }


def made() -> dict[str, Any]:
    """Returns the record, made anew."""
    import torch
    from torch._inductor.utils import run_and_get_code
    from torch.nn import functional
    from torch.nn.attention.flex_attention import flex_attention

    def plain(q: Any, k: Any, v: Any) -> Any:
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        return torch.softmax(scores, dim=-1) @ v

    def capped(q: Any, k: Any, v: Any) -> Any:
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        scores = 30 * torch.tanh(scores / 30)
        return torch.softmax(scores, dim=-1) @ v

    def cap(score: Any, batch: Any, head: Any, query: Any, key: Any) -> Any:
        return 30 * torch.tanh(score / 30)

    def flexible(q: Any, k: Any, v: Any) -> Any:
        return flex_attention(q, k, v, score_mod=cap)

    torch.manual_seed(13)
    q, k, v = (torch.randn(1, HEADS, N, D) for _ in range(3))
    found: dict[str, Any] = {}
    ways: dict[str, Callable[..., Any]] = {
        "three lines": plain,
        "soft cap": capped,
        "soft cap, flex": flexible,
    }
    with torch.no_grad():
        for name, way in ways.items():
            fast = torch.compile(way)
            result, (code, *_) = run_and_get_code(fast, q, k, v)
            torch.testing.assert_close(result, way(q, k, v), rtol=1e-4, atol=1e-5)
            found[name] = {
                **described(code),
                "eager_ms": best_ms(lambda way=way: way(q, k, v)),
                "compiled_ms": best_ms(lambda fast=fast: fast(q, k, v)),
            }
        sdpa_ms = best_ms(lambda: functional.scaled_dot_product_attention(q, k, v))
    return {
        "made_by": "python -m benchmarks.record_compiled_attention",
        "versions": {"torch": torch.__version__, "python": platform.python_version()},
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads",
        "sizes": {"heads": HEADS, "n": N, "d": D},
        "ways": found,
        "sdpa_ms": sdpa_ms,
    }


if __name__ == "__main__":
    RECORD.write_text(json.dumps(made(), indent=1) + "\n", encoding="utf-8")
    print(f"wrote {RECORD.name}: {RECORD.stat().st_size:,} bytes")
