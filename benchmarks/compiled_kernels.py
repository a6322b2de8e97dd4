"""Records what NVIDIA's compiler makes of the kernels of a lesson: instructions, counted.

    python -m benchmarks.compiled_kernels matmul

It compiles each kernel solution of the lesson for the compute capabilities of `CAPABILITIES`, takes
the machine code (SASS) apart and counts in its main loop. That needs no GPU, but the packages of
the extra `compile`. The counts go to gpu_course/hardware/compiled/main_loops.json, which lessons
read, and a table of them is printed.

The main loop is the one with the most multiply-adds. Where the compiler has left a loop inside it
that holds them all, that loop counts as often as it takes for `PRODUCTS` of the kernel's source.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.programs.course_kernels import kernels, load
from gpu_course.hardware.compiled.compiler import compile_kernel
from gpu_course.hardware.compiled.listing import Compiled
from gpu_course.hardware.compiled.main_loops import PATH
from gpu_course.hardware.compiled.toolchain import toolchain

CAPABILITIES = ("8.0", "9.0")
PRODUCTS = {
    "matmul_tiled": 16,
    "batched_matmul": 16,
    "matmul_bias_gelu": 16,
    "matmul_register": 512,
    "matmul_vectorized": 512,
    "matmul_double_buffered": 512,
}
"""Multiply-adds of a thread in one turn of the main loop as it is written; else 1."""

VARIANTS = {
    "matmul_naive with range": (
        "matmul_naive",
        (("p = 0\n        while p < k:", "for p in range(k):"), ("            p += 1\n", "")),
    ),
    "matvec with range": (
        "matvec",
        (
            ("col = lane\n        while col < cols:", "for col in range(lane, cols, 32):"),
            ("            col += 32\n", ""),
        ),
    ),
    "matmul_register with range and signed indices": (
        "matmul_register",
        (
            ("start = 0\n    while start < k:", "for start in range(0, k, K_TILE):"),
            ("        start += K_TILE\n", ""),
            ("p = 0\n        while p < K_TILE:", "for p in range(K_TILE):"),
            ("            p += 1\n", ""),
            ("uint32(", "("),
        ),
    ),
}
"""Name -> a solution and what is written in another way in it, for comparison."""

INSTRUCTION_BYTES = 16
_BRANCH = re.compile(r"BRA\b.*\b0x([0-9a-f]+)")
_REGISTER = re.compile(r"\bR\d+\b")


@dataclass(frozen=True)
class Counted:
    """What is in the main loop of a compiled kernel, of one thread.

    Attributes:
        registers: that a thread takes.
        spilled_bytes: that do not fit into them and go to local memory.
        ffma: multiply-adds of float32 in a turn of the loop.
        instructions: of that turn, all of them.
        shared_loads: by the bytes that each brings its thread, as text.
        shared_stores, global_loads, barriers: of that turn.
        in_flight: global loads that are issued before the first number is waited for.
        hidden_behind: multiply-adds that stand between the first global load and the first use of
            what it brought.
    """

    registers: int
    spilled_bytes: int
    ffma: int
    instructions: int
    shared_loads: dict[str, int]
    shared_stores: int
    global_loads: int
    barriers: int
    in_flight: int
    hidden_behind: int


@dataclass(frozen=True)
class Code:
    """A kernel as machine code.

    Attributes:
        registers: that a thread takes.
        spilled_bytes: that do not fit into them.
        instructions: in order, as nvdisasm writes them, without guards.
        loops: (first, last) instruction of each.
    """

    registers: int
    spilled_bytes: int
    instructions: list[str]
    loops: list[tuple[int, int]]

    @classmethod
    def of(cls, found: Compiled) -> Code:
        """Returns a compiled kernel with its loops: what a branch back to an earlier one ends."""
        texts = [each.text[each.text.index(each.opcode) :] for each in found.instructions]
        loops = []
        for end, text in enumerate(texts):
            branch = _BRANCH.match(text)
            if branch and int(branch[1], 16) < end * INSTRUCTION_BYTES:
                loops.append((int(branch[1], 16) // INSTRUCTION_BYTES, end))
        return cls(found.registers, found.spill_bytes, texts, loops)

    def counted(self, products: int) -> Counted:
        """Returns what is in the main loop.

        Args:
            products: multiply-adds of a turn as the kernel is written.
        """
        most = max(self._ffma(loop) for loop in self.loops)
        holding = [loop for loop in self.loops if self._ffma(loop) == most]
        outer = max(holding, key=lambda loop: loop[1] - loop[0])
        inner = min(holding, key=lambda loop: loop[1] - loop[0])
        turns = max(1, products // most) if inner != outer else 1
        order = list(self._in_order(outer, inner, turns))
        kinds = Counter(_kind(self.instructions[at]) for at in order)
        widths = Counter(
            str(_bytes(self.instructions[at]))
            for at in order
            if _kind(self.instructions[at]) == "LDS"
        )
        in_flight, hidden = self._travelling(order)
        return Counted(
            registers=self.registers,
            spilled_bytes=self.spilled_bytes,
            ffma=kinds["FFMA"],
            instructions=len(order),
            shared_loads=dict(sorted(widths.items(), key=lambda item: int(item[0]))),
            shared_stores=kinds["STS"],
            global_loads=kinds["LDG"],
            barriers=kinds["BAR"],
            in_flight=in_flight,
            hidden_behind=hidden,
        )

    def _ffma(self, loop: tuple[int, int]) -> int:
        return sum(_kind(each) == "FFMA" for each in self.instructions[loop[0] : loop[1] + 1])

    @staticmethod
    def _in_order(outer: tuple[int, int], inner: tuple[int, int], turns: int) -> Iterator[int]:
        yield from range(outer[0], inner[0])
        for _ in range(turns):
            yield from range(inner[0], inner[1] + 1)
        yield from range(inner[1] + 1, outer[1] + 1)

    def _travelling(self, order: Sequence[int]) -> tuple[int, int]:
        """Global loads before the first of their numbers is used, and multiply-adds till then."""
        coming: set[str] = set()
        loads = products = 0
        for at in order:
            kind, registers = _kind(self.instructions[at]), _registers(self.instructions[at])
            own = registers[:1] if _writes(kind) else []
            if coming & set(registers[len(own) :]):
                break
            if kind == "LDG":
                coming.update(own)
                loads += 1
            elif coming:
                products += kind == "FFMA"
        return loads, products


def _kind(instruction: str) -> str:
    return instruction.split(maxsplit=1)[0].split(".", maxsplit=1)[0]


def _writes(kind: str) -> bool:
    return kind not in ("STS", "STG", "STL", "BRA", "BAR", "ISETP", "EXIT", "RED")


def _registers(instruction: str) -> list[str]:
    return _REGISTER.findall(instruction.partition(" ")[2])


def _bytes(instruction: str) -> int:
    width = re.search(r"\.(64|128)\b", instruction.split(maxsplit=1)[0])
    return int(width[1]) // 8 if width else 4


def compiled(topic: str) -> dict[str, dict[str, Counted]]:
    """Returns {kernel: {compute capability: what is in its main loop}} of a lesson's solutions.

    Args:
        topic: the lesson's, such as "matmul".
    """
    found: dict[str, dict[str, Counted]] = {}
    for key, path, function, _, arguments in kernels():
        lesson, _, name = key.partition(":")[0].partition("/")
        if lesson.partition("_")[2] != topic or path.parent.name == "mistakes":
            continue
        label = name if function == name else f"{name}:{function}"
        text = path.read_text(encoding="utf-8")
        texts = {label: text}
        for other, (solution, changes) in VARIANTS.items():
            if solution == label:
                texts[other] = _changed(text, changes)
        for each, source in texts.items():
            found[each] = _of_source(source, function, arguments, label)
    return found


def _changed(text: str, changes: Sequence[tuple[str, str]]) -> str:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def _of_source(text: str, function: str, arguments: list[Any], label: str) -> dict[str, Counted]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.py"
        path.write_text(text, encoding="utf-8")
        kernel = load(path, function)
        return {
            capability: Code.of(
                compile_kernel(lambda: kernel, function, arguments, capability, lines=False)
            ).counted(PRODUCTS.get(label, 1))
            for capability in CAPABILITIES
        }


def table(found: dict[str, dict[str, Counted]]) -> str:
    """Returns a line for each kernel and compute capability."""
    head = (
        "kernel",
        "cc",
        "per FFMA",
        "LDS/FFMA",
        "by bytes",
        "LDG",
        "STS",
        "BAR",
        "regs",
        "spilled",
    )
    rows = [head]
    for name, by_capability in found.items():
        for version, each in by_capability.items():
            loads = sum(each.shared_loads.values())
            widths = " ".join(f"{count}x{width}" for width, count in each.shared_loads.items())
            rows.append(
                (
                    name,
                    version,
                    f"{each.instructions / each.ffma:.2f}",
                    f"{loads / each.ffma:.3f}",
                    widths or "-",
                    str(each.global_loads),
                    str(each.shared_stores),
                    str(each.barriers),
                    str(each.registers),
                    str(each.spilled_bytes),
                )
            )
    wide = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, wide, strict=True)).rstrip()
        for row in rows
    )


def main() -> None:
    """Compiles, writes the record and prints the table."""
    topic = sys.argv[1]
    warnings.simplefilter("ignore")
    found = compiled(topic)
    kept = {
        "compiler": toolchain().versions,
        "kernels": {
            name: {version: asdict(each) for version, each in by_capability.items()}
            for name, by_capability in found.items()
        },
    }
    PATH.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(table(found))


if __name__ == "__main__":
    main()
