"""The puzzles of lesson 19: in order, their references against counts done otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_course.puzzle import index

LESSON = index.lesson("forward_gradients")

PUZZLES = {puzzle.short_name: puzzle for puzzle in LESSON.puzzles}


def test_the_lesson_brings_its_puzzles() -> None:
    assert list(PUZZLES) == ["forward_gradient", "variance_law", "k_directions"]


@pytest.mark.parametrize("name", PUZZLES)
def test_every_diagnosis_belongs_to_a_mistake(name: str) -> None:
    puzzle = PUZZLES[name]
    own = {mistake.diagnosis for mistake in puzzle.mistakes}
    assert set(puzzle.diagnoses) == own


@pytest.mark.parametrize("directions", ["normal", "signs", "right angles"])
def test_the_law_is_what_many_draws_give(directions: str) -> None:
    import torch

    from gpu_course.lessons.forward_gradients.jvp import spread_out, total_variance
    from gpu_course.lessons.forward_gradients.variance_law import covariance

    gradient, k, d = [1.5, -2.0, 0.5, 3.0], 2, 4
    generator = torch.Generator().manual_seed(0)
    normals = torch.randn(6_000, k, d, generator=generator, dtype=torch.float64)
    frames = {
        "normal": normals,
        "signs": normals.sign(),
        "right angles": torch.stack([spread_out(each) for each in normals])
        if directions == "right angles"
        else normals,
    }[directions]
    g = torch.tensor(gradient, dtype=torch.float64)
    estimates = ((frames @ g)[..., None] * frames).mean(1)
    exact = covariance(gradient, k, directions)
    spread = float(np.abs(exact).max())
    assert np.abs(np.cov(estimates.numpy().T) - exact).max() < 0.1 * spread
    assert np.abs(estimates.mean(0).numpy() - gradient).max() < 0.1 * spread**0.5
    assert total_variance(gradient, k, directions) == pytest.approx(np.trace(exact))
