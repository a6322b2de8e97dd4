"""Records what Triton makes of one matrix product, for cards that nobody needs to have.

    python -m benchmarks.record_triton

It needs no GPU, but Triton 3.9.0 (`pip install triton==3.9.0`, 286 MB), and so what is found is
kept in gpu_course/lessons/host_and_device/triton.json, from which lesson 08 reads. For each compute
capability it counts the instructions of the loop over k, of which each turn is one step of
128 x 128 x 32, and those of the whole program.
"""

from __future__ import annotations

import json
import platform
import re
from collections import Counter
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("programs") / "triton_matmul.py"
RECORD = Path(__file__).parents[1] / "gpu_course" / "lessons" / "host_and_device" / "triton.json"
CAPABILITIES = (75, 80, 90, 100)
TILE = {"tm": 128, "tn": 128, "tk": 32}
SIGNATURE = {
    "out": "*fp32", "a": "*fp16", "b": "*fp16", "n": "i32", "k": "i32",
    **dict.fromkeys(TILE, "constexpr"),
}  # fmt: skip

_MNEMONIC = re.compile(r"^\s*(?:@!?%\w+\s+)?\{?\s*([a-z][\w.:]*)")
_LABEL = re.compile(r"^(\$?\w+):")
_BRANCH = re.compile(r"\bbra(?:\.uni)?\s+(\$\w+);")
_MATRIX = re.compile(r"^(mma\.sync|wgmma\.mma_async|tcgen05\.mma|fma\.rn\.f32)")
_SHAPE = re.compile(r"\.m(\d+)n(\d+)k(\d+)")


def source() -> str:
    """Returns the program as the lesson shows it: from its decorator on."""
    text = PROGRAM.read_text(encoding="utf-8")
    return text[text.index("@triton.jit") :]


def mnemonic(line: str) -> str:
    """Returns the instruction of a line of PTX without its operands, "" where none is.

    >>> mnemonic("  @%p14 tcgen05.mma.cta_group::1.kind::f16 [ %r4 + 0 ], %rd36;")
    'tcgen05.mma.cta_group::1.kind::f16'
    >>> mnemonic("$L__BB0_2:"), mnemonic("// begin inline asm")
    ('', '')
    """
    found = _MNEMONIC.match(line)
    return found[1] if found and line.strip()[-1:] != ":" else ""


def loop(lines: list[str]) -> tuple[int, int]:
    """Returns from which line to which the loop reaches that has the matrix instructions.

    A loop is what lies between a label and the last branch back to it.
    """
    labels = {found[1]: at for at, line in enumerate(lines) if (found := _LABEL.match(line))}
    ends: dict[int, int] = {}
    for at, line in enumerate(lines):
        for name in _BRANCH.findall(line):
            if labels.get(name, at) < at:
                ends[labels[name]] = at
    return next(
        (start, end)
        for start, end in ends.items()
        if any(_MATRIX.match(mnemonic(line)) for line in lines[start : end + 1])
    )


def multiply_adds(lines: list[str], matrix: str, threads: int) -> int:
    """Returns the multiply-adds that one matrix instruction does for a whole block.

    `mma.sync` is done by each warp, `wgmma` by four warps, `tcgen05.mma` by one thread for all, and
    an FMA by each thread. The shape of `tcgen05.mma` stands in its descriptor, the fourth operand:
    n / 8 from bit 17 on and m / 16 from bit 24 on (PTX ISA, "Instruction descriptor").
    """
    if matrix.startswith("fma"):
        return threads
    if found := _SHAPE.search(matrix):
        m, n, k = map(int, found.groups())
        return m * n * k * (threads // (32 if matrix.startswith("mma") else 128))
    line = next(line for line in lines if mnemonic(line) == matrix)
    register = line.split(",")[-2].strip()
    (value,) = re.findall(rf"mov\.b32\s+{re.escape(register)}, (\d+);", "\n".join(lines))
    descriptor = int(value)
    return ((descriptor >> 24) & 31) * 16 * ((descriptor >> 17) & 63) * 8 * 16


def seen(ptx: str, threads: int) -> dict[str, Any]:
    """Returns what is recorded of a program's PTX."""
    lines = ptx.splitlines()
    start, end = loop(lines)
    whole = Counter(filter(None, map(mnemonic, lines)))
    inside = Counter(filter(None, map(mnemonic, lines[start : end + 1])))
    matrix = max((name for name in inside if _MATRIX.match(name)), key=lambda name: inside[name])
    shown = next(line.strip() for line in lines[start:] if mnemonic(line) == matrix)
    return {
        "matrix": matrix,
        "in_step": inside[matrix],
        "in_program": whole[matrix],
        "multiply_adds": multiply_adds(lines, matrix, threads),
        "shown": re.sub(r"\{\s*%\w+[^}]*\}", "{...}", shown),
        "step": _kinds(inside),
        "instructions_in_step": sum(inside.values()),
        "ptx_version": next(line.split()[1] for line in lines if line.startswith(".version")),
    }


KINDS = {
    "matrix": ("mma.", "wgmma.mma", "tcgen05.mma"),
    "fma": ("fma.rn.f32",),
    "global to shared": ("cp.async.cg",),
    "global loads": ("ld.global",),
    "shared loads": ("ld.shared", "ldmatrix"),
    "shared stores": ("st.shared",),
    "barriers": ("bar.", "barrier."),
}


def _kinds(counts: Counter[str]) -> dict[str, int]:
    return {
        kind: sum(n for name, n in counts.items() if name.startswith(begins))
        for kind, begins in KINDS.items()
    }


def made() -> dict[str, Any]:
    """Returns the record, compiled anew."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from benchmarks.programs.triton_matmul import matmul

    divisible = {(at,): [["tt.divisibility", 16]] for at in range(5)}
    found = {}
    for capability in CAPABILITIES:
        asked = ASTSource(matmul, dict(SIGNATURE), dict(TILE), divisible)
        compiled = triton.compile(asked, target=GPUTarget("cuda", capability, 32))
        meta = compiled.metadata
        figures = {"warps": meta.num_warps, "shared_bytes": meta.shared}
        figures |= seen(compiled.asm["ptx"], 32 * meta.num_warps)
        found[f"{capability // 10}.{capability % 10}"] = figures
    return {
        "made_by": "python -m benchmarks.record_triton",
        "versions": {"triton": triton.__version__, "python": platform.python_version()},
        "tile": TILE,
        "source": source(),
        "capabilities": found,
    }


if __name__ == "__main__":
    RECORD.write_text(json.dumps(made(), indent=1) + "\n", encoding="utf-8")
    print(f"wrote {RECORD.name}: {RECORD.stat().st_size:,} bytes")
