"""Puzzle `ledger`: the bytes a module keeps for its backward pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

KINDS = (
    "mlp",
    "square",
    "gate",
    "first columns",
    "dropout in bfloat16",
    "batch norm",
    "tokens",
    "transformer layer",
    "product of halves",
    "folded",
    "many sines",
)


def _case(number: int, rows: int, width: int, visible: bool = False) -> Case:
    name = "visible example: mlp" if visible else KINDS[number]
    return Case(name, {"kind": number, "rows": rows, "width": width}, visible)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return {
        "kind": KINDS[case.sizes["kind"]],
        "rows": case.sizes["rows"],
        "width": case.sizes["width"],
        "seed": int(rng.integers(1 << 30)),
    }


def _reference(inputs: Values, case: Case) -> Values:
    from gpu_course.lessons.memory_ledger.samples import sample
    from gpu_course.measure.saved import saved_bytes

    return {"kept_bytes": saved_bytes(*sample(**inputs))}


def _random_case(rng: np.random.Generator) -> Case:
    number, rows, width = (int(rng.integers(*span)) for span in ((0, len(KINDS)), (2, 9), (3, 9)))
    return Case(
        f"{KINDS[number]}, sizes drawn at random", {"kind": number, "rows": rows, "width": width}
    )


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Counts once more in each of the ways people count, and names the way that gives `got`."""
    counted, right = got.get("kept_bytes"), expected["kept_bytes"]
    if counted == 0:
        return "nothing"
    for key, wrong in _other_counts(inputs).items():
        if counted == wrong != right:
            return key
    too_small = isinstance(counted, int) and counted < right
    return "place-used-again" if too_small else None


def _other_counts(inputs: Values) -> dict[str, int]:
    import torch

    from gpu_course.lessons.memory_ledger.samples import sample

    module, x = sample(**inputs)
    parameters = _places(*module.parameters())
    own = parameters | _places(*module.buffers())
    saved: list[Any] = []

    def pack(tensor: Any) -> Any:
        saved.append(tensor)
        return tensor

    outputs: list[Any] = []
    handles = [m.register_forward_hook(lambda m, i, o: outputs.append(o)) for m in module.modules()]
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        module(x)
    for handle in handles:
        handle.remove()
    foreign = [tensor for tensor in saved if not _places(tensor) & own]
    first_bytes = {tensor.data_ptr() for tensor in (*module.parameters(), *module.buffers())}
    return {
        "views-apart": sum({t.data_ptr(): t.untyped_storage().nbytes() for t in foreign}.values()),
        "shapes-apart": sum(
            {
                (t.untyped_storage().data_ptr(), t.shape): t.untyped_storage().nbytes()
                for t in foreign
            }.values()
        ),
        "own-by-first-byte": _whole(t for t in saved if not _places(t) & first_bytes),
        "each-save": sum(tensor.untyped_storage().nbytes() for tensor in foreign),
        "parameters": _whole(saved),
        "buffers": _whole(t for t in saved if not _places(t) & parameters),
        "view-bytes": sum({t.data_ptr(): t.numel() * t.element_size() for t in foreign}.values()),
        "elements": _whole(foreign, 1),
        "four-bytes": _whole(foreign, 4),
        "without-batch": _whole(t for t in foreign if not _places(t) & _places(x)),
        "outputs": _whole(outputs),
    }


def _places(*tensors: Any) -> set[int]:
    return {tensor.untyped_storage().data_ptr() for tensor in tensors}


def _whole(tensors: Any, element_bytes: int = 0) -> int:
    """Bytes of storages, each once; with `element_bytes`, its numbers times that."""
    sizes = {}
    for tensor in tensors:
        storage = tensor.untyped_storage()
        width = element_bytes or tensor.element_size()
        sizes[storage.data_ptr()] = storage.nbytes() // tensor.element_size() * width
    return sum(sizes.values())


LEDGER = PythonPuzzle(
    **told(__file__),
    harness="gpu_course.lessons.memory_ledger.harness.ledger",
    torch=True,
    cases=(
        _case(0, 4, 6, visible=True),
        # Early: what a hook loses by letting go of storages depends on the allocator in the others.
        _case(KINDS.index("many sines"), 5, 8),
        *(_case(number, 5, 8) for number in range(1, len(KINDS) - 1)),
        Case("mlp, one row", {"kind": 0, "rows": 1, "width": 3}),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
)
