"""A model that speaks through kernels says what plain torch says, until a kernel is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from gpu_course.errors import CourseError
from gpu_course.lessons.decoding import speaks
from gpu_course.lessons.decoding.character_gpt import LETTERS, CharacterGPT, Sizes, train
from gpu_course.lessons.decoding.speaks import first_difference, speak, speak_in_torch
from gpu_course.puzzle import KernelPuzzle, index
from simt.kernel import source
from tests.course.puzzles.by_hand import SOLUTIONS

pytestmark = pytest.mark.long(40)

PROMPT = "A sector of a warp holds"
"""More letters than a page has slots."""


@pytest.fixture(scope="module")
def model() -> CharacterGPT:
    sizes = Sizes(layers=2, heads=4, kv_heads=2, inner=64, context=64)
    prose = "A warp reads a sector. A sector holds eight numbers, and a page has 16 tokens. " * 8
    return train(sizes, steps=60, batch=4, length=32, prose=prose).model


@pytest.fixture(autouse=True)
def _solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(SOLUTIONS))


@pytest.mark.parametrize("drawn", [None, 0, 1])
def test_kernels_say_what_plain_torch_says(model: CharacterGPT, drawn: int | None) -> None:
    own, torchs = (
        speak(model, PROMPT, 14, drawn=drawn),
        speak_in_torch(model, PROMPT, 14, drawn=drawn),
    )
    assert first_difference(own, torchs) is None
    assert own.text == torchs.text and len(own.tokens) == 14
    np.testing.assert_allclose(own.logits, torchs.logits, rtol=1e-3, atol=1e-4)
    assert own.by == "your kernels" and torchs.by == "plain torch"
    assert str(own) == f"{PROMPT}|{own.text}"


def test_draws_are_the_same_for_the_same_number_alone(model: CharacterGPT) -> None:
    texts = [speak_in_torch(model, "A", 30, drawn=number).text for number in (4, 4, 5, None)]
    assert texts[0] == texts[1] and len(set(texts)) == 3


@pytest.mark.parametrize(
    "sizes",
    [
        Sizes(layers=1, heads=1, kv_heads=1, inner=32, context=20),
        Sizes(layers=1, heads=3, kv_heads=1, inner=96, context=20),
        Sizes(layers=1, heads=5, kv_heads=5, inner=32, context=20),
    ],
)
def test_other_heads_and_one_letter_of_prompt_are_right_too(sizes: Sizes) -> None:
    torch.manual_seed(3)
    drawn = CharacterGPT(sizes).eval()
    own, torchs = (each(drawn, "a", 3) for each in (speak, speak_in_torch))
    np.testing.assert_allclose(own.logits, torchs.logits, rtol=1e-3, atol=1e-4)


def test_the_launches_of_a_token_are_counted_kernel_by_kernel(model: CharacterGPT) -> None:
    said = speak(model, "A", 2)
    layers = model.sizes.layers
    assert said.launches == {
        "rmsnorm": 2 * layers + 1,
        "matvec": 4 * layers + 1,
        "rope": layers,
        "kv_append_paged": layers,
        "decode_attention_gqa": layers,
        "top_k": 1,
    }
    table = speaks.launch_table(said)
    assert table.splitlines()[-1] == "launches for a token   21"
    assert " ".join(table.split()).startswith(said.by)
    assert max(map(len, table.splitlines())) <= 70


def test_a_launch_is_that_of_its_puzzle(model: CharacterGPT, monkeypatch) -> None:
    """Grids and blocks follow from the sizes as the puzzle's own launches do."""
    seen: dict[str, tuple[Any, Any]] = {}
    launched = speaks._Engine._launch

    def watched(self: Any, name: str, grid: Any, block: Any, *arguments: Any) -> None:
        seen.setdefault(name, (grid, block))
        launched(self, name, grid, block, *arguments)

    monkeypatch.setattr(speaks._Engine, "_launch", watched)
    speak(model, "A", 1)
    speak(model, "A", 1, weights="int4")
    for name, (_, block) in seen.items():
        puzzle = index.find(name)
        assert isinstance(puzzle, KernelPuzzle)
        blocks = {str(launch.block) for case in puzzle.cases for launch in puzzle.launches(case)}
        assert str(block) in blocks, name
    assert set(seen) == {*speaks.KERNELS, "int4_matvec"}


WRONG = [
    ("rmsnorm", "sum_for_mean"),
    ("matvec", "four_steps"),
    ("rope", "turned_back"),
    ("kv_append_paged", "keys_twice"),
    ("decode_attention_gqa", "heads_in_turn"),
    ("decode_attention_gqa", "unscaled"),
    ("top_k", "smallest_first"),
    ("int4_matvec", "upper_half_first"),
]
"""Of each kernel a mistake, of attention also the one that takes the wrong KV head."""


def wrong(name: str, mistake: str) -> Any:
    puzzle = index.find(name)
    file = SOLUTIONS / puzzle.lesson / "mistakes" / f"{puzzle.short_name}.py"
    return source.load(file).kernel(mistake)


def test_a_wrong_kernel_shows_as_the_first_letter_that_differs(model: CharacterGPT) -> None:
    right = speak_in_torch(model, "A warp", 12)
    given = {"rope": wrong("rope", "turned_back")}
    found = first_difference(right, speak(model, "A warp", 12, kernels=given))
    assert found is not None
    assert found.letters[0] == right.text[found.place]
    one, other = found.logits
    assert one[0] > one[1] and other[1] > other[0]
    assert found.by[1].startswith("rope as given; your rmsnorm")
    lines = str(found).splitlines()
    assert lines[0] == f"letter {found.place + 1} of the answer is the first that differs,"
    assert found.read == len("A warp") + found.place
    assert lines[1].startswith(f"after {found.read} letters that were read, the last of them ")
    assert lines[2].startswith(f"  {found.letters[0]!r}   logits ") and "plain torch" in lines[3]
    # At half a window a line of more than 70 columns is broken within a word.
    assert max(map(len, lines)) <= 70


@pytest.mark.parametrize(("name", "mistake"), WRONG)
def test_a_mistake_of_each_kernel_shows(model: CharacterGPT, name: str, mistake: str) -> None:
    weights = "int4" if name == "int4_matvec" else "float32"
    right, found = (
        speak(model, "A warp", 2, drawn=1, weights=weights, kernels=given)
        for given in ({}, {name: wrong(name, mistake)})
    )
    apart = np.abs(np.subtract(found.logits, right.logits)).max()
    assert found.tokens != right.tokens or apart > 0.1


def test_int4_weights_are_within_half_a_step_and_give_the_logits_they_stand_for(
    model: CharacterGPT,
) -> None:
    weights = model.layers[0].up.weight.detach().numpy()
    packed, scale, zero = speaks.packed_int4(weights)
    shifts = np.arange(0, 32, 4, dtype=np.uint32)
    numbers = (packed[..., None] >> shifts & 15).reshape(len(weights), -1, 32).astype(np.float64)
    unpacked = ((numbers - zero[..., None]) * scale[..., None]).reshape(weights.shape)
    steps = np.repeat(scale, 32, 1)
    assert (np.abs(unpacked - weights) <= steps * 1.01).all()
    assert (np.abs(unpacked - weights) <= steps * 0.51).mean() > 0.9
    assert len(np.unique(numbers)) == 16


def test_a_matrix_of_zeros_packs_into_zeros() -> None:
    packed, scale, zero = speaks.packed_int4(np.zeros((2, 64), np.float32))
    assert not packed.any() and (scale == 1).all() and not zero.any()


def test_rounding_to_fp8_keeps_the_largest_number_and_three_bits_of_each() -> None:
    heads = np.random.default_rng(3).normal(size=(1, 2, 32)).astype(np.float32)
    heads[0, 1, 4] = 0
    rounded = speaks.rounded_to_fp8(heads)
    largest = np.abs(heads).argmax(-1)[..., None]
    np.testing.assert_allclose(
        np.take_along_axis(rounded, largest, -1), np.take_along_axis(heads, largest, -1), rtol=1e-6
    )
    np.testing.assert_allclose(rounded, heads, rtol=2**-4, atol=1e-4)
    assert not np.array_equal(rounded, heads)
    assert not speaks.rounded_to_fp8(np.zeros((1, 1, 32), np.float32)).any()


@pytest.mark.parametrize("how", [{"weights": "int4"}, {"cache": "fp8"}])
def test_narrow_numbers_move_the_logits_a_little(model: CharacterGPT, how: dict) -> None:
    right, narrow = speak(model, PROMPT, 1), speak(model, PROMPT, 1, **how)
    apart = np.abs(np.subtract(right.logits, narrow.logits)).max()
    assert 1e-4 < apart < 2
    assert narrow.by in ("your kernels, int4 weights", "your kernels, an fp8 cache")


def test_without_answers_our_kernels_stand_in(model: CharacterGPT, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(SOLUTIONS.parent)
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(tmp_path))
    assert speak(model, "A", 1).by == "our kernels, until there are some of yours"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"prompt": ""}, "a prompt of one letter or more"),
        ({"letters": 0}, "a letter to say"),
        ({"prompt": "Größe"}, "no letter 'ö'"),
        ({"letters": 64}, "the context is 64"),
        ({"weights": "int3"}, "weights is one of float32, int4"),
        ({"cache": "int8"}, "cache is one of float32, fp8"),
    ],
)
def test_what_cannot_be_said_is_told(model: CharacterGPT, given: dict, words: str) -> None:
    with pytest.raises(CourseError) as told:
        speak(model, **{"prompt": "A warp", "letters": 2, **given})
    assert words in str(told.value)


def test_texts_after_different_prompts_are_not_compared(model: CharacterGPT) -> None:
    one, other = (speak_in_torch(model, prompt, 1) for prompt in ("A", "B"))
    with pytest.raises(CourseError, match="the same prompt"):
        first_difference(one, other)


def test_every_letter_is_one_that_can_be_said() -> None:
    assert len(set(LETTERS)) == len(LETTERS) == 96
