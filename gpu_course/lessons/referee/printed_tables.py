"""Tables as their authors printed them, with the rules their cells should keep.

What follows from a rule is never written here. The last two keep all their rules, once rounding is
allowed for; the others do not. "GFLOP a token" is counted from the shape; a node has eight GPUs.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpu_course.lessons.referee.consistency import Printed, Rule

GPUS_PER_NODE = 8
H100 = 989.5e12
"""FLOP/s in bfloat16, as the Playbook takes it."""
HOURS = 24


@dataclass(frozen=True)
class Table:
    """A table of a source.

    Attributes:
        source: where it was printed.
        printed: its cells, by name.
        rules: what they should keep.
    """

    source: str
    printed: Printed
    rules: tuple[Rule, ...]


def share(part: str, count: str, total: str) -> Rule:
    """Returns the rule that a cell is a count in % of another."""
    return part, [(100.0, {count: 1, total: -1})], 0.0


def equal(one: str, other: str, within: float = 0.0) -> Rule:
    """Returns the rule that two cells are the same."""
    return one, [(1.0, {other: 1})], within


def product(result: str, *factors: str, times: float = 1.0, within: float = 0.0) -> Rule:
    """Returns the rule that a cell is a product of others, and of a number."""
    return result, [(times, dict.fromkeys(factors, 1))], within


def total(result: str, *parts: str) -> Rule:
    """Returns the rule that a cell is the sum of others."""
    return result, [(1.0, {part: 1}) for part in parts], 0.0


_FAILURES = {
    "faulty GPU": (148, "30.1"),
    "HBM3": (72, "17.2"),
    "software": (54, "12.9"),
    "network": (35, "8.4"),
    "maintenance": (32, "7.6"),
    "GPU SRAM": (19, "4.5"),
    "GPU processor": (17, "4.1"),
    "NIC": (7, "1.7"),
    "NCCL": (7, "1.7"),
    "silent corruption": (6, "1.4"),
    "thermal": (6, "1.4"),
    "SSD": (3, "0.7"),
    "power supply": (3, "0.7"),
    "chassis": (2, "0.5"),
    "IO board": (2, "0.5"),
    "dependency": (2, "0.5"),
    "CPU": (2, "0.5"),
    "memory": (2, "0.5"),
}
"""Llama 3, Table 5: what stopped the run, how often, and in % of the unexpected interruptions."""

_FLEET = {1024: "7.9", 16384: "1.8", 131072: "0.23"}
"""GPUs of a job -> hours until something fails."""

_SC21 = {
    # B parameters: GPUs, TFLOP/s each, % of peak, all together in PFLOP/s
    "1.7": (32, "137", "44", "4.4"),
    "3.6": (64, "138", "44", "8.8"),
    "7.5": (128, "142", "46", "18.2"),
    "18.4": (256, "135", "43", "34.6"),
    "39.1": (512, "138", "44", "70.8"),
    "76.1": (1024, "140", "45", "143.8"),
    "145.6": (1536, "148", "47", "227.1"),
    "310.1": (1920, "155", "50", "297.4"),
    "529.6": (2520, "163", "52", "410.2"),
    "1008.0": (3072, "163", "52", "502.0"),
}
_KERNELS = {
    "naive": ("309.0", "1.3"),
    "coalesced": ("1986.5", "8.5"),
    "tiled": ("2980.3", "12.8"),
    "strips": ("8474.7", "36.5"),
    "squares": ("15971.7", "68.7"),
}


def _llama() -> Table:
    printed: dict[str, str | int] = {}
    rules: list[Rule] = [total("unexpected", *_FAILURES)]
    for name, (count, part) in _FAILURES.items():
        printed |= {name: count, f"{name}, %": part}
        rules.append(share(f"{name}, %", name, "unexpected"))
    printed["unexpected"] = 419
    return Table("Llama 3, arXiv 2407.21783, Table 5", printed, tuple(rules))


def _fleet() -> Table:
    printed: dict[str, str | int] = {"failures in 1,000 node-days": "6.50"}
    rules: list[Rule] = []
    for gpus, hours in _FLEET.items():
        nodes, many, until = f"nodes of {gpus:,}", f"GPUs, {gpus:,}", f"hours at {gpus:,}"
        printed |= {many: gpus, nodes: gpus // GPUS_PER_NODE, until: hours}
        rules.append(product(many, nodes, times=GPUS_PER_NODE))
        rate = {"failures in 1,000 node-days": -1, nodes: -1}
        rules.append((until, [(1000.0 * HOURS, rate)], 0.0))
    return Table("Kokolis et al., arXiv 2410.21680", printed, tuple(rules))


def _sc21() -> Table:
    printed: dict[str, str | int] = {"peak": 312}
    rules: list[Rule] = []
    for name, (gpus, each, of_peak, together) in _SC21.items():
        named = f"{name}B GPUs", f"{name}B TFLOP/s", f"{name}B %", f"{name}B PFLOP/s"
        printed |= dict(zip(named, (gpus, each, of_peak, together), strict=True))
        many, rate, part, everyone = named
        rules += [share(part, rate, "peak"), product(everyone, many, rate, times=1e-3)]
    return Table("Narayanan et al., arXiv 2104.04473, Table 1", printed, tuple(rules))


def _boehm() -> Table:
    printed: dict[str, str | int] = {"cuBLAS": "23249.6"}
    rules: list[Rule] = []
    for name, (rate, part) in _KERNELS.items():
        printed |= {name: rate, f"{name}, %": part}
        rules.append(share(f"{name}, %", name, "cuBLAS"))
    printed["tiled, in the text"] = "2200"
    rules.append(equal("tiled, in the text", "tiled", 0.05))
    return Table(
        "Boehm, How to Optimize a CUDA Matmul Kernel, table and text", printed, tuple(rules)
    )


_BIG = "BigScience, chronicles-prequel.md (9e64ede)"
_PLAYBOOK = "Ultra-Scale Playbook, its benchmark"

TABLES: dict[str, Table] = {
    "hours until a failure": _fleet(),
    "what stopped Llama 3": _llama(),
    "a kernel's rate in table and text": _boehm(),
    "one run, printed twice": Table(
        f"{_BIG}, lines 608 and 669",
        {"s, line 608": "134.02", "TFLOP/s, line 608": "120.29", "s, line 669": "120.29",
         "TFLOP/s, line 669": "134.02", "TFLOP": "16121"},
        (
            product("TFLOP", "s, line 608", "TFLOP/s, line 608"),
            product("TFLOP", "s, line 669", "TFLOP/s, line 669"),
            equal("s, line 608", "s, line 669"),
            equal("TFLOP/s, line 608", "TFLOP/s, line 669"),
        ),
    ),
    "switches of a pod": Table(
        "How To Scale Your Model, chapter on GPUs, appendix",
        {"leaf switches": 32, "uplinks of each": 32, "spine switches": 16, "ports of each": 64,
         "leaf to spine, TB/s": "51.2", "spine, TB/s": "25.6"},
        (
            product("uplinks of each", "spine switches", times=2),
            ("ports of each", [(1.0, {"leaf switches": 1, "uplinks of each": 1,
                                      "spine switches": -1})], 0.0),
            product("leaf to spine, TB/s", "leaf switches", "uplinks of each", times=0.05),
            product("spine, TB/s", "spine switches", "ports of each", times=0.05),
        ),
    ),
    "memory without ZeRO": Table(
        f"{_PLAYBOOK}, 1.34B, TP 8, 16 sequences, ZeRO off",
        {"GiB, DP 1": "38.3", "GiB, DP 2": "40.2", "GiB, DP 4": "25.7"},
        (
            equal("GiB, DP 1", "GiB, DP 2", 0.1),
            equal("GiB, DP 2", "GiB, DP 4", 0.1),
            equal("GiB, DP 1", "GiB, DP 4", 0.1),
        ),
    ),
    "tokens a second, node by node": Table(
        f"{_PLAYBOOK}, 3.57B, PP 8, TP 2, one sequence, ZeRO-1",
        {"GPUs a": 64, "each, a": "6629", "all, a": "424230",
         "GPUs b": 128, "each, b": "6222", "all, b": "796468",
         "GPUs c": 256, "each, c": "193", "all, c": "49375"},
        (
            *(product(f"all, {run}", f"GPUs {run}", f"each, {run}") for run in "abc"),
            *(product(f"GPUs {two}", f"GPUs {one}", times=2) for one, two in ("ab", "bc")),
            equal("each, b", "each, a", 0.5),
            equal("each, c", "each, b", 0.5),
        ),
    ),
    "a model of 80B": Table(
        f"{_PLAYBOOK}, 80B, DP 1, PP 4, TP 8, one sequence",
        {"GFLOP a token": "512", "GPUs": 32, "each, a": "285", "all, a": "9120", "MFU a": "14.8",
         "each, b": "282", "all, b": "9014", "MFU b": "13.0"},
        (
            *(product(f"all, {run}", "GPUs", f"each, {run}") for run in "ab"),
            *(product(f"MFU {run}", "GFLOP a token", f"each, {run}", times=100e9 / H100)
              for run in "ab"),
        ),
    ),
    "ten sizes of GPT": _sc21(),
    "what DeepSeek-V3 cost": Table(
        "DeepSeek-V3, arXiv 2412.19437, Table 1",
        {"pre-training": "2664", "longer context": "119", "post-training": "5", "hours": "2788",
         "M$": "5.576", "$ an hour": 2},
        (
            total("hours", "pre-training", "longer context", "post-training"),
            product("M$", "hours", "$ an hour", times=1e-3),
        ),
    ),
}  # fmt: skip
"""By name."""

LATER = "memory without ZeRO"
"""The table whose slip the learner guesses in the audit: nothing before shows what is in it."""
