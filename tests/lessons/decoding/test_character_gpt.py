"""The character GPT: what it counts, what it refuses, and that a seed gives one model."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from gpu_course.errors import CourseError
from gpu_course.lessons.decoding import character_gpt
from gpu_course.lessons.decoding.character_gpt import CharacterGPT, Sizes, train

TINY = Sizes(layers=1, heads=2, kv_heads=1, inner=64, context=48)
PROSE = "A warp reads a sector. A sector holds eight numbers. " * 8


@pytest.mark.parametrize("sizes", [TINY, Sizes(), Sizes(heads=3, kv_heads=3, inner=96)])
def test_the_parameters_are_those_of_the_model_that_is_built(sizes: Sizes) -> None:
    built = sum(each.numel() for each in CharacterGPT(sizes).parameters())
    assert sizes.parameters == built


def test_the_lessons_model_has_the_size_it_is_said_to_have() -> None:
    sizes = Sizes()
    assert (sizes.layers, sizes.heads, sizes.kv_heads) == (2, 4, 2)
    assert 370_000 < sizes.parameters < 375_000


def test_a_model_of_a_hundred_million_is_refused_before_it_is_built(monkeypatch) -> None:
    def built(*given: object) -> None:
        raise AssertionError("a layer was built")

    monkeypatch.setattr(character_gpt, "Layer", built)
    monkeypatch.setattr(character_gpt, "course_prose", built)
    large = Sizes(layers=10, heads=32, kv_heads=8, inner=4096)
    assert large.parameters > 100_000_000
    with pytest.raises(CourseError, match=r"of [\d,]+ parameters is not built here") as told:
        train(large)
    assert "373,376" in str(told.value) and "GiB" in str(told.value)
    with pytest.raises(CourseError, match="is not built here"):
        CharacterGPT(large)


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        (Sizes(heads=4, kv_heads=3), "3 KV heads do not divide 4"),
        (Sizes(heads=16, kv_heads=1, inner=32, layers=1), "8 query heads for each KV head"),
        (Sizes(inner=100), "inner is 100"),
        (Sizes(layers=0), "layers is 0"),
        (Sizes(heads=True), "heads is True"),
    ],
)
def test_sizes_that_no_kernel_takes_are_refused_with_the_number(sizes: Sizes, words: str) -> None:
    with pytest.raises(CourseError, match=words):
        train(sizes)


def test_the_same_seed_gives_the_same_model_and_another_one_does_not() -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    first, again, other = (
        train(TINY, steps=6, batch=4, length=16, seed=seed, prose=PROSE) for seed in (1, 1, 2)
    )
    assert torch.equal(torch.random.get_rng_state(), before)
    pairs = list(zip(first.model.parameters(), again.model.parameters(), strict=True))
    assert all(torch.equal(a, b) for a, b in pairs)
    assert first.losses == again.losses != other.losses


def test_training_lowers_the_loss_and_says_so() -> None:
    trained = train(TINY, steps=40, batch=4, length=16, prose=PROSE)
    assert trained.losses[-1] < trained.losses[0] - 1
    assert str(trained).startswith(f"{TINY.parameters:,} parameters, 40 steps on {len(PROSE)} ")
    assert max(map(len, str(trained).splitlines())) <= 79


@pytest.mark.parametrize(
    ("given", "words"),
    [({"prose": "ab"}, "the prose has 2 letters"), ({"length": 49}, "do not fit into a context")],
)
def test_what_cannot_be_read_is_told(given: dict, words: str) -> None:
    with pytest.raises(CourseError, match=words):
        train(TINY, **{"prose": PROSE, "length": 16, **given})


def test_the_model_looks_at_no_later_letter() -> None:
    model = CharacterGPT(TINY).eval()
    tokens = torch.randint(0, len(character_gpt.LETTERS), (1, 20))
    whole = model(tokens)
    torch.testing.assert_close(model(tokens[:, :11])[0, -1], whole[0, 10])


def test_a_turn_keeps_lengths_and_depends_on_the_distance_alone() -> None:
    q, k = torch.randn(1, 1, 1, 32), torch.randn(1, 1, 1, 32)

    def score(at: int, other: int) -> float:
        places = (torch.tensor([at]), torch.tensor([other]))
        a, b = (character_gpt.turned(each, p) for each, p in zip((q, k), places, strict=True))
        return float((a * b).sum())

    assert score(3, 1) == pytest.approx(score(9, 7), abs=1e-5)
    assert score(3, 1) != pytest.approx(score(3, 2), abs=1e-3)
    turned = character_gpt.turned(q, torch.tensor([11]))
    torch.testing.assert_close(turned.norm(), q.norm())


def test_the_norm_is_torchs_and_the_heads_share_keys_in_groups() -> None:
    """The same layer written out, with the keys repeated for their query heads."""
    layer = character_gpt.Layer(Sizes(heads=4, kv_heads=2, inner=32, layers=1))
    x = torch.randn(1, 6, 128)
    h = x / (x.square().mean(-1, keepdim=True) + character_gpt.EPS).sqrt()
    q, k, v = layer.qkv(h).view(1, 6, 8, 32).split([4, 2, 2], 2)
    places = torch.arange(6)
    q, k = character_gpt.turned(q, places), character_gpt.turned(k, places)
    k, v = (each.repeat_interleave(2, 2) for each in (k, v))
    scores = torch.einsum("bshd,bthd->bhst", q, k) / 32**0.5
    scores = scores.masked_fill(torch.ones(6, 6).triu(1).bool(), -torch.inf)
    mixed = torch.einsum("bhst,bthd->bshd", scores.softmax(-1), v).flatten(2)
    expected = x + layer.out(mixed)
    inner = expected / (expected.square().mean(-1, keepdim=True) + character_gpt.EPS).sqrt()
    expected = expected + layer.down(functional.gelu(layer.up(inner)))
    torch.testing.assert_close(layer(x), expected, rtol=1e-4, atol=1e-5)


def test_the_courses_prose_is_prose() -> None:
    prose = character_gpt.course_prose()
    assert len(prose) > 100_000
    assert not any(mark in prose for mark in ("```", "](", "jupytext", "{code-cell}", "**"))
    assert "coalesced" in prose
