"""Records what Triton makes of attention, and what its interpreter computes with it.

    python -m benchmarks.record_triton_flash

It needs no GPU, but Triton 3.9.0 (`pip install triton==3.9.0`, 286 MB) and PyTorch, and so what is
found is kept in gpu_course/lessons/softmax_to_flash/triton.json, from which lesson 13 reads. For
each compute capability it counts the matrix instructions of the program for 16-bit q, k and v. The
interpreter runs the same program on float32, and its result is held against PyTorch's attention in
float64. On a GPU nobody has run it.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.record_triton import mnemonic

PROGRAM = Path(__file__).with_name("programs") / "triton_flash.py"
RECORD = Path(__file__).parents[1] / "gpu_course" / "lessons" / "softmax_to_flash" / "triton.json"
CAPABILITIES = (80, 90, 100)
SIZES = {"d": 64, "tr": 128, "tk": 64}
INTERPRETED = {"n": 100, "m": 70, "d": 32, "tr": 32, "tk": 32}
SIGNATURE = {
    "out": "*fp32", "lse": "*fp32", "q": "*fp16", "k": "*fp16", "v": "*fp16",
    "n": "i32", "m": "i32", "scale": "fp32", **dict.fromkeys(SIZES, "constexpr"),
}  # fmt: skip
_MATRIX = ("mma.sync", "wgmma.mma_async", "tcgen05.mma")


def source() -> str:
    """Returns the program as the lesson shows it: from its decorator on."""
    text = PROGRAM.read_text(encoding="utf-8")
    return text[text.index("@triton.jit") :]


def compiled() -> dict[str, Any]:
    """Returns what is made for each compute capability."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from benchmarks.programs.triton_flash import flash_attention

    divisible = {(at,): [["tt.divisibility", 16]] for at in range(7)}
    found = {}
    for capability in CAPABILITIES:
        asked = ASTSource(flash_attention, dict(SIGNATURE), dict(SIZES), divisible)
        made = triton.compile(asked, target=GPUTarget("cuda", capability, 32))
        counts = Counter(filter(None, map(mnemonic, made.asm["ptx"].splitlines())))
        matrix = {name: n for name, n in counts.items() if name.startswith(_MATRIX)}
        name = max(matrix, key=lambda each: matrix[each])
        found[f"{capability // 10}.{capability % 10}"] = {
            "warps": made.metadata.num_warps,
            "shared_bytes": made.metadata.shared,
            "matrix": name,
            "in_program": matrix[name],
        }
    return found


def interpreted() -> dict[str, Any]:
    """Returns the worst errors of the interpreter's out and lse, for sizes no tile divides."""
    import torch

    from benchmarks.programs.triton_flash import flash_attention

    n, m, d = (INTERPRETED[name] for name in ("n", "m", "d"))
    torch.manual_seed(13)
    q, k, v = (torch.randn(rows, d) for rows in (n, m, m))
    out, lse = torch.empty(n, d), torch.empty(n)
    grid = (-(-n // INTERPRETED["tr"]),)
    tiles = {name: INTERPRETED[name] for name in SIZES}
    flash_attention[grid](out, lse, q, k, v, n, m, d**-0.5, **tiles)
    scores = q.double() @ k.double().T * d**-0.5
    right = scores.softmax(1) @ v.double()
    return {
        **INTERPRETED,
        "worst_out": float((out - right).abs().max()),
        "worst_lse": float((lse - scores.logsumexp(1)).abs().max()),
    }


def made() -> dict[str, Any]:
    """Returns the record, made anew; the interpreter has to be chosen before Triton is imported."""
    import triton

    code = (
        "import os, json; os.environ['TRITON_INTERPRET'] = '1'; "
        "from benchmarks.record_triton_flash import interpreted; print(json.dumps(interpreted()))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {
        "made_by": "python -m benchmarks.record_triton_flash",
        "versions": {"triton": triton.__version__, "python": platform.python_version()},
        "sizes": SIZES,
        "source": source(),
        "interpreted": json.loads(run.stdout.splitlines()[-1]),
        "capabilities": compiled(),
    }


if __name__ == "__main__":
    RECORD.write_text(json.dumps(made(), indent=1) + "\n", encoding="utf-8")
    print(f"wrote {RECORD.name}: {RECORD.stat().st_size:,} bytes")
