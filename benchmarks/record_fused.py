"""Records what torch.compile and Triton make of operations of lesson 12, for whoever has neither.

    python -m benchmarks.record_fused

It needs no GPU. torch.compile needs a C++ compiler (g++); Triton 3.9.0 is 286 MB (`pip install
triton==3.9.0`). What is found is kept in gpu_course/lessons/data_movement/fused.json, from which
the lesson reads: the loops that torch.compile writes for a CPU, how often they load and store
whole arrays, and what a GPU's compiler makes of one Triton program.
"""

from __future__ import annotations

import json
import math
import platform
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("programs") / "triton_bias_gelu.py"
RECORD = Path(__file__).parents[1] / "gpu_course" / "lessons" / "data_movement" / "fused.json"
ROWS, COLS = 64, 256
BLOCK = 256
CAPABILITY = 90

_LOOPS = re.compile(r"r'''\n(.*?)'''\)", re.DOTALL)
_FOR = re.compile(r"for\((x\d)=0; x\d<(\d+);")
_TOUCH = re.compile(r"(loadu|store)\((?:in|out|in_out)_ptr\d+ \+ ([^,)]*)")


def triton_source() -> str:
    """Returns the Triton program as the lesson shows it: from its decorator on."""
    text = PROGRAM.read_text(encoding="utf-8")
    return text[text.index("@triton.jit") :]


def plain(cpp: str) -> str:
    """Returns the loops of generated C++ in fewer words: the same statements, without casts.

    >>> plain("for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(64L);)")
    'for(x0=0; x0<64;)'
    """
    text, before = cpp, ""
    while text != before:
        text, before = re.sub(r"static_cast<\w+>\(([^()]*)\)", r"\1", text), text
    text = re.sub(r"\bint64_t (?=x\d)", "", text)
    text = text.replace("at::vec::Vectorized<float>", "Vec").replace("auto ", "")
    return re.sub(r"(?<=\d)L\b", "", text)


def loops(code: str) -> str:
    """Returns the loops of the C++ in a module of torch.compile, two blanks for each loop."""
    (cpp,) = _LOOPS.findall(code)
    body = cpp[cpp.index("for(") : cpp.index("inductor_cpu_integer_div_error_flag = nullptr")]
    kept: list[str] = []
    around: list[int] = []
    # What stands before the first loop was cut off, and with it how far that one is indented.
    for line in (" " * 8 + plain(body)).splitlines():
        words = line.strip()
        if words in ("", "{", "}") or words.startswith(("#pragma", "if(C10_LIKELY")):
            continue
        width = len(line) - len(words)
        while around and width <= around[-1]:
            around.pop()
        kept.append("  " * len(around) + words)
        if words.startswith("for("):
            around.append(width)
    return "\n".join(kept) + "\n"


def passes(source: str, numbers: int) -> dict[str, int]:
    """Returns how often arrays of so many numbers are loaded and stored as a whole.

    Args:
        source: loops, as `loops` gives them.
        numbers: of an array; smaller ones, such as a bias, are left out.
    """
    found = {"loads": 0, "stores": 0}
    around: list[tuple[str, int]] = []
    for line in source.splitlines():
        del around[(len(line) - len(line.lstrip())) // 2 :]
        if loop := _FOR.search(line):
            around.append((loop[1], int(loop[2])))
        elif touch := _TOUCH.search(line):
            turns = math.prod(turns for name, turns in around if name in touch[2])
            if turns == numbers:
                found["loads" if touch[1] == "loadu" else "stores"] += 1
    return found


def written_by_compile(function: Callable[..., Any], *tensors: Any) -> dict[str, Any]:
    """Returns what torch.compile writes for a function, on one thread of a CPU."""
    import torch
    from torch._inductor import config
    from torch._inductor.utils import run_and_get_code

    torch._dynamo.reset()
    with config.patch({"cpp.threads": 1, "cpp.simdlen": 512}):
        _, code = run_and_get_code(torch.compile(function), *tensors)
    whole = "\n".join(code)
    kernels = re.findall(r"^cpp_fused_\w+ = async_compile", whole, re.MULTILINE)
    source = loops(whole)
    return {"kernels": len(kernels), **passes(source, ROWS * COLS), "source": source}


def compiled() -> dict[str, Any]:
    """Returns what torch.compile writes for two functions of the lesson."""
    import torch
    from torch.nn import functional

    x, residual = torch.randn(ROWS, COLS), torch.randn(ROWS, COLS)
    bias, weight = torch.randn(COLS), torch.randn(COLS)

    def bias_gelu(x: Any, bias: Any) -> Any:
        return functional.gelu(x + bias)

    def residual_layernorm(x: Any, residual: Any, weight: Any, bias: Any) -> Any:
        total = x + residual
        return total, functional.layer_norm(total, (COLS,), weight, bias)

    return {
        "bias_gelu": written_by_compile(bias_gelu, x, bias),
        "residual_layernorm": written_by_compile(residual_layernorm, x, residual, weight, bias),
    }


def made_by_triton() -> dict[str, Any]:
    """Returns what Triton makes of its program for one compute capability."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from benchmarks.programs.triton_bias_gelu import bias_gelu

    signature = {"out": "*fp32", "x": "*fp32", "bias": "*fp32", "cols": "i32", "block": "constexpr"}
    divisible = {(at,): [["tt.divisibility", 16]] for at in range(4)}
    asked = ASTSource(bias_gelu, signature, {"block": BLOCK}, divisible)
    done = triton.compile(asked, target=GPUTarget("cuda", CAPABILITY, 32))
    ptx = done.asm["ptx"]
    return {
        "capability": f"{CAPABILITY // 10}.{CAPABILITY % 10}",
        "block": BLOCK,
        "warps": done.metadata.num_warps,
        "loads": re.findall(r"\b(ld\.global\S*)", ptx),
        "stores": re.findall(r"\b(st\.global\S*)", ptx),
    }


def versions() -> dict[str, str]:
    """Returns the versions of all that made the record."""
    import torch
    import triton

    words = subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True, check=True)
    return {
        "torch": torch.__version__.partition("+")[0],
        "triton": triton.__version__,
        "g++": words.stdout.strip(),
        "python": platform.python_version(),
    }


def made() -> dict[str, Any]:
    """Returns the record, made anew."""
    return {
        "made_by": "python -m benchmarks.record_fused",
        "versions": versions(),
        "rows": ROWS,
        "cols": COLS,
        "compiled": compiled(),
        "triton": {"source": triton_source(), **made_by_triton()},
    }


if __name__ == "__main__":
    RECORD.write_text(json.dumps(made(), indent=1) + "\n", encoding="utf-8")
    print(f"wrote {RECORD.name}: {RECORD.stat().st_size:,} bytes")
