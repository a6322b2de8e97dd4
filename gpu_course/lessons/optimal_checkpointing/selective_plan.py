"""Puzzle `selective_plan`: which products to save, under the rule of PyTorch's contexts."""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache

import numpy as np

from gpu_course.measure.activation_formulas import LayerShape
from gpu_course.puzzle.harness import Unusable
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values
from simt.text import count

SHAPE = ("sequence", "batch", "hidden", "heads")


def _case(
    name: str,
    shape: tuple[int, int, int, int],
    layers: int,
    percent: int,
    *,
    short: int = 0,
    visible: bool = False,
) -> Case:
    """Some layers, and so many percent of all bytes as the budget, `short` bytes less."""
    sizes = dict(zip(SHAPE, shape, strict=True)) | {"layers": layers, "percent": percent}
    return Case(name, sizes | ({"short": short} if short else {}), visible)


def _random_case(rng: np.random.Generator) -> Case:
    heads = int(rng.integers(1, 5))
    shape = (8 * int(rng.integers(1, 6)), 2, heads * 8 * int(rng.integers(1, 3)), heads)
    return _case(
        "layers drawn at random", shape, int(rng.integers(1, 3)), int(rng.integers(20, 80))
    )


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    from gpu_course.lessons.optimal_checkpointing.selective import products

    shape = [case.sizes[name] for name in SHAPE]
    listed = [asdict(product) for product in products(LayerShape(*shape), case.sizes["layers"])]
    total = sum(product["bytes"] for product in listed)
    return {
        "products": listed,
        "budget": total * case.sizes["percent"] // 100 - case.sizes.get("short", 0),
        "shape": shape,
        "layers": case.sizes["layers"],
        "seed": int(rng.integers(1 << 30)),
    }


def _as_called(inputs: Values) -> str:
    sizes = ", ".join(f"({p['bytes']:,}; {p['flops']:,})" for p in inputs["products"])
    return (
        f"selective_plan(products, {inputs['budget']}) where the products are (bytes; flops): "
        f"{sizes}"
    )


def _reference(inputs: Values, case: Case) -> Values:
    loss, gradients, _ = _plain(tuple(inputs["shape"]), inputs["layers"], inputs["seed"])
    return {"loss": loss, "gradients": gradients}


@lru_cache(maxsize=32)
def _plain(shape: tuple[int, ...], layers: int, seed: int) -> tuple[float, np.ndarray, int]:
    """Returns (loss, gradients, FLOP) of the plain run."""
    from gpu_course.lessons.optimal_checkpointing.selective import region, run_selective

    found = run_selective(*region(LayerShape(*shape), layers, seed), None, seed)
    return found.loss, found.gradients.numpy(), found.flops


def _followed(inputs: Values, case: Case, got: Values) -> Values:
    """Returns a choice, and what a run of the layers with these products saved took here."""
    from gpu_course.lessons.optimal_checkpointing.selective import region, run_selective

    chosen, listed = got["chosen"], range(len(inputs["products"]))
    if not all(type(number) is int and number in listed for number in chosen):
        raise Unusable("selective_plan returned what is no list of products")
    if len(set(chosen)) < len(chosen):
        raise Unusable("selective_plan names a product twice", "twice")
    module, x = region(LayerShape(*inputs["shape"]), inputs["layers"], inputs["seed"])
    found = run_selective(module, x, set(chosen), inputs["seed"])
    nothing = run_selective(module, x, (), inputs["seed"])
    return {
        "chosen": sorted(chosen),
        "loss": found.loss,
        "gradients": found.gradients.numpy(),
        "saved_bytes": found.kept_bytes - nothing.kept_bytes,
        "flops": found.flops,
    }


def _least_again(products: list[Values], budget: int) -> int:
    """Returns the fewest FLOP run again: all products less the best choice, by trying sums."""
    worth = np.full(budget + 1, -1, np.int64)
    worth[0] = 0
    for product in products:
        size = product["bytes"]
        if size <= budget:
            before = worth[: budget + 1 - size]
            better = np.where(before >= 0, before + product["flops"], -1)
            worth[size:] = np.maximum(worth[size:], better)
    return sum(product["flops"] for product in products) - int(worth.max())


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    budget, products = inputs["budget"], inputs["products"]
    if got["saved_bytes"] > budget:
        fact = f"{count(got['saved_bytes'], 'byte')} saved; the budget is {budget:,}"
        return Judgement("too-much-saved", fact, "over-budget")
    _, _, plain = _plain(tuple(inputs["shape"]), inputs["layers"], inputs["seed"])
    again, least = got["flops"] - plain, _least_again(products, budget)
    if again <= least:
        return None
    room = budget - got["saved_bytes"]
    unused = [p for number, p in enumerate(products) if number not in got["chosen"]]
    key = "room-left" if any(p["bytes"] <= room for p in unused) else "not-the-best"
    saved = ", ".join(map(str, got["chosen"])) or "none"
    fact = (
        f"{again:,} FLOP are run again, and the best choice runs {least:,}; "
        f"the products you save: {saved}"
    )
    return Judgement(key, fact, "over-budget")


SELECTIVE_PLAN = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.optimal_checkpointing.harness.selective_plan",
    call=_as_called,
    torch=True,
    cases=(
        _case("visible example: one layer", (32, 2, 32, 4), 1, 40, visible=True),
        _case("room for nothing", (8, 1, 16, 2), 1, 0),
        _case("room for all", (8, 1, 16, 2), 1, 100),
        _case("one byte short of all", (8, 1, 16, 2), 1, 100, short=1),
        _case("a long sequence", (64, 1, 16, 4), 1, 50),
        _case("a wide layer", (8, 2, 48, 2), 1, 65),
        _case("a wide layer, less room", (8, 2, 48, 2), 1, 45),
        _case("a fuller budget is no better", (24, 2, 32, 2), 1, 24),
        _case("two layers", (24, 1, 32, 1), 2, 55),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    follow=_followed,
    judge=_judge,
)
