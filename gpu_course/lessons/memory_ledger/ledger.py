"""Puzzle `ledger`: the bytes a module keeps for its backward pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.puzzle.specification import Case, Debrief, Mistake, PythonPuzzle, Values

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


DEBRIEF = Debrief(
    shows=("kept_bytes",),
    why=(
        "Autograd tells a hook of each tensor that it saves, and a storage is known by where it "
        "begins. Counting storages instead of tensors counts views and repeats once."
    ),
    alternative=(
        "You can also walk the graph from the output backwards and ask each node what it saved. "
        "There the names differ from operation to operation; a hook sees all tensors alike."
    ),
)

LEDGER = PythonPuzzle(
    name="16_memory_ledger/ledger",
    title="what a module keeps",
    difficulty="medium",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "Count the bytes a module keeps from its forward pass for its backward pass: every storage "
        "once, parameters and buffers left out."
    ),
    parameters={"ledger": ("layer", "x")},
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
    diagnoses={
        "each-save": (
            "Something is in your sum more than once. Backward may need one tensor in two places; "
            "the hook is called for each, and the memory is there once. What can tell you that two "
            "tensors lie in the same memory?"
        ),
        "view-bytes": (
            "A saved tensor may be a view: a few columns of something larger. What it keeps alive "
            "is the whole storage behind it, not only the part it shows."
        ),
        "views-apart": (
            "A storage is in your sum more than once. Two views of it were saved, and each begins "
            "at another of its numbers: `data_ptr()` of a tensor says where the view begins, that "
            "of its storage says which memory it is."
        ),
        "shapes-apart": (
            "A storage is in your sum more than once. It was saved in two shapes, as it came out "
            "and reshaped, and both are views of one memory. What do they share?"
        ),
        "place-used-again": (
            "Something is missing from your sum. When nothing holds on to a storage that your hook "
            "has seen, its memory is free again, and a later storage may get the same place or the "
            "same id: two storages, one key. Keep each storage until you have added them up."
        ),
        "parameters": (
            "The weights are in your sum. Backward needs them, so the hook sees them too, but they "
            "are there with or without a forward pass. The hook may get a weight transposed: "
            "another tensor, in the same place in memory."
        ),
        "own-by-first-byte": (
            "A weight that the layer owns is in your sum. A parameter may be a view, too: this "
            "layer has all of its own side by side in one storage, and none at its beginning. "
            "Compare storages with storages, not with where a tensor's numbers begin."
        ),
        "buffers": (
            "Parameters are left out, as they should be, and yet something is in your sum that was "
            "there before. A batch norm has running statistics: what does a module call those?"
        ),
        "elements": "That is how many numbers are kept. A number has a size in bytes.",
        "four-bytes": (
            "You took four bytes for each number. bfloat16 has two, a mask of bools one, and "
            "tokens of int64 eight. The storage knows its own size."
        ),
        "without-batch": (
            "The batch is missing. Where a layer saves it, it cannot go away until the backward "
            "pass, so it counts; the paper counts it too."
        ),
        "outputs": (
            "You counted what the modules give out. Some outputs are never needed again, and some "
            "of what backward needs is no module's output: a mask, for one. Ask autograd itself."
        ),
        "nothing": (
            "Nothing was counted. The hooks see what is saved while they are open and a graph is "
            "being built: does the layer run inside them, and not under no_grad?"
        ),
        "wrong-type": (
            "Return the number of bytes as a plain int; nbytes() of a storage is one already."
        ),
    },
    hints=(
        (
            "torch.autograd.graph.saved_tensors_hooks(pack, unpack) is a context: inside it, pack "
            "gets every tensor that an operator saves, and returns what is to be kept in its place."
        ),
        (
            "A tensor is a window onto a storage. `untyped_storage()` gives the storage; its "
            "`data_ptr()` says where it lies and its `nbytes()` how large it is."
        ),
        (
            "Collect what the layer owns in a set, by place in memory. In pack, put each storage "
            "that is not in the set into a dictionary under its place. Add up at the end."
        ),
    ),
    equivalent_mutants={
        "ledger:statement-dropped:return tensor": (
            "Nobody goes back through the graph, so what the hook leaves in a tensor's place is "
            "never asked for; the storages are held by the dictionary."
        ),
        **{
            f"ledger:{mutant}] = storage": "All keys move alike, and nothing else reads them."
            for mutant in (
                "index-later:storages[storage.data_ptr() + 1",
                "index-earlier:storages[storage.data_ptr() - 1",
            )
        },
        "ledger:call-dropped:storages[storage] = storage": (
            "While a storage lives, PyTorch hands out one and the same object for it."
        ),
    },
    mistakes=(
        Mistake("each_save_counts", "wrong-result", "each-save"),
        Mistake("views_as_they_look", "wrong-result", "view-bytes"),
        Mistake("views_by_their_beginning", "wrong-result", "views-apart"),
        Mistake("keeps_addresses_only", "wrong-result", "place-used-again"),
        Mistake("parameters_as_well", "wrong-result", "parameters"),
        Mistake("owns_by_the_first_byte", "wrong-result", "own-by-first-byte"),
        Mistake("buffers_as_well", "wrong-result", "buffers"),
        Mistake("elements_for_bytes", "wrong-result", "elements"),
        Mistake("four_bytes_each", "wrong-result", "four-bytes"),
        Mistake("without_the_batch", "wrong-result", "without-batch"),
        Mistake("outputs_of_modules", "wrong-result", "outputs"),
        Mistake("runs_it_without_a_graph", "wrong-result", "nothing"),
        Mistake("a_tensor_for_a_number", "wrong-result", "wrong-type"),
        Mistake("a_storage_for_each_shape", "wrong-result", "shapes-apart"),
    ),
    source=(
        "torch.autograd.graph.saved_tensors_hooks, "
        "https://docs.pytorch.org/docs/stable/autograd.html#saved-tensors-default-hooks"
    ),
)
