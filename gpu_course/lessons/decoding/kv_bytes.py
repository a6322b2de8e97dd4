"""Puzzle `kv_bytes`: what the cache of keys and values takes, page by page."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.decoding.costs import BITS_IN_A_BYTE, Cache, pages_of
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

Config = dict[str, int]

NAMES = ("layers", "heads", "kv_heads", "head_size", "bits", "latent", "rotary")

KNOWN: dict[str, Config] = {
    name: dict(zip(NAMES, numbers, strict=True))
    for name, numbers in {
        "small": (3, 12, 4, 10, 16, 0, 0),
        "Llama 2 7B": (32, 32, 32, 128, 16, 0, 0),
        "Llama 3 70B": (80, 64, 8, 128, 8, 0, 0),
        "one KV head": (2, 8, 1, 6, 4, 0, 0),
        "DeepSeek-V3": (61, 128, 128, 128, 16, 512, 64),
        "one of everything": (1, 1, 1, 1, 8, 0, 0),
    }.items()
}
"""Shapes by their names; DeepSeek-V3's by arXiv 2412.19437, section 4.2."""


def _case(name: str, config: str, visible: bool = False, **sizes: int) -> Case:
    return sized(name, visible=visible, config=list(KNOWN).index(config), **sizes)


def _random_case(rng: np.random.Generator) -> Case:
    sequences, page = int(rng.integers(2, 9)), int(rng.integers(2, 20))
    return sized("a model and sequences drawn at random", config=-1, sequences=sequences, page=page)


def _drawn(rng: np.random.Generator) -> Config:
    kv_heads = int(rng.integers(2, 6))
    latent = int(rng.integers(2)) * 8 * int(rng.integers(2, 20))
    return {
        "layers": int(rng.integers(2, 20)),
        "heads": kv_heads * int(rng.integers(2, 5)),
        "kv_heads": kv_heads,
        "head_size": 8 * int(rng.integers(1, 9)),
        "bits": int(rng.choice([4, 8, 16, 32])),
        "latent": latent,
        "rotary": 2 * int(rng.integers(1, 9)) if latent else 0,
    }


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    s = case.sizes
    config = _drawn(rng) if s["config"] < 0 else dict(list(KNOWN.values())[s["config"]])
    if case.visible:
        return {"config": config, "lengths": [9, 6, 14, 8], "page": 4, "shared": 6}
    page = s["page"]
    if s.get("full"):
        shared = 2 * page
        lengths = [page * int(n) for n in rng.integers(2, 6, s["sequences"])]
        return {"config": config, "lengths": lengths, "page": page, "shared": shared}
    shared = int(rng.integers(0, s.get("shared", 3 * page) + 1))
    lengths = [shared + int(n) for n in rng.integers(0, 5 * page + 2, s["sequences"])]
    if s.get("none"):
        shared, lengths = 0, [0, *lengths, 0]
    return {"config": config, "lengths": lengths, "page": page, "shared": shared}


def counted(config: Config, lengths: list[int], page: int, shared: int) -> tuple[int, int]:
    """Returns the bytes of all pages, and those of their empty places."""
    each = Cache.of(config).token_bits // BITS_IN_A_BYTE
    pages, empty = pages_of(lengths, page, shared)
    return pages * page * each, empty * each


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": counted(**inputs)}


def _called(inputs: Values) -> str:
    told: list[str] = [f"{name}={value!r}" for name, value in inputs.items() if name != "config"]
    return f"kv_bytes({_short(inputs['config'])}, {', '.join(told)})"


def _short(config: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{name}: {value}" for name, value in config.items()) + "}"


KV_BYTES = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", "small", visible=True),
        _case("as many KV heads as heads", "Llama 2 7B", sequences=5, page=16, shared=0),
        _case("eight KV heads, 8 bits", "Llama 3 70B", sequences=7, page=16),
        _case("one KV head, 4 bits", "one KV head", sequences=4, page=3),
        _case("a latent vector", "DeepSeek-V3", sequences=3, page=64),
        _case("pages of one token", "small", sequences=4, page=1),
        _case("all pages are full", "small", sequences=4, page=5, full=1),
        _case("sequences without tokens", "small", sequences=3, page=8, none=1),
        _case("one sequence", "one of everything", sequences=1, page=7),
        _case("no sequence", "small", sequences=0, page=4),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    call=_called,
)
