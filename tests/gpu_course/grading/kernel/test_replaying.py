"""A learner's own answer, replayed on the case in which its check finds the race."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpu_course.errors import CourseError
from gpu_course.grading.check import check
from gpu_course.grading.kernel.replaying import replay_answer
from gpu_course.grading.kernel.trial import solutions_folder
from gpu_course.puzzle import Case, KernelPuzzle, Launch
from gpu_course.puzzle.specification import Values

HEAD = "from numba import cuda, float32\n\n\n@cuda.jit\ndef mirror(out, a):\n"
BODY = """    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < a.size:
        s[t] = a[i]{barrier}
    k = min(a.size - cuda.blockIdx.x * 64, 64)
    if i < a.size:
        out[i] = s[k - 1 - t]{more}
"""
RACY = HEAD + BODY.format(barrier="", more="")
CLEAN = HEAD + BODY.format(barrier="\n    cuda.syncthreads()", more="")
WRONG_AND_RACY = HEAD + BODY.format(barrier="", more=" + 1")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return {"a": rng.permutation(np.arange(1, case.sizes["size"] + 1)).astype(np.float32)}


def _reference(inputs: Values, case: Case) -> Values:
    a = inputs["a"]
    return {"out": np.concatenate([a[k : k + 64][::-1] for k in range(0, a.size, 64)])}


MIRROR = KernelPuzzle(
    name="90_toys/mirror",
    title="each block the other way round",
    statement="Reverse every 64 cells.",
    parameters={"mirror": ("out", "a")},
    # With 4 cells all threads that write are in one warp; with 100 they are not.
    cases=(
        Case("four cells", {"size": 4}),
        Case("visible example", {"size": 100}, visible=True),
    ),
    random_case=lambda rng: Case("at random", {"size": int(rng.integers(65, 200))}),
    inputs=_inputs,
    launches=lambda case: (Launch("mirror", -(-case.sizes["size"] // 64), 64, ("out", "a")),),
    reference=_reference,
    hints=("weak", "stronger", "strongest"),
)


def written(folder: Path, text: str) -> Path:
    path = folder / "mirror.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_race_is_replayed_on_the_case_in_which_check_finds_it(tmp_path: Path) -> None:
    answer = written(tmp_path, RACY)
    verdict = check(MIRROR, answer=answer, seed=0)
    assert verdict.reason == "hazard" and verdict.hazards[0].kind == "race"
    found = replay_answer(MIRROR, answer, seed=0)
    assert found.recording is not None and found.damage is not None and found.culprit is not None
    lines = found.story.splitlines()
    assert lines[0] == "The case: visible example (size 100)."
    assert any(line.startswith("The result: out[") and "it should be" in line for line in lines)
    read = RACY.splitlines().index("        out[i] = s[k - 1 - t]") + 1
    write = RACY.splitlines().index("        s[t] = a[i]") + 1
    assert found.culprit.at.line == read
    assert found.culprit.other is not None and found.culprit.other.line == write
    # What should be there is the reference's, not a run's.
    a = _inputs_of_visible_case()
    wanted = _reference({"a": a}, MIRROR.cases[1])["out"]
    assert found.damage.wanted == wanted[found.damage.cell]


def _inputs_of_visible_case() -> np.ndarray:
    from gpu_course.grading.kernel import trial

    given = trial.prepare(MIRROR, MIRROR.cases[1], 0)
    array: np.ndarray = given.inputs["a"]
    return array


def test_a_right_answer_has_nothing_to_replay(tmp_path: Path) -> None:
    answer = written(tmp_path, CLEAN)
    assert check(MIRROR, answer=answer, seed=0).passed
    found = replay_answer(MIRROR, answer, seed=0)
    assert not found.found and "No race was found in mirror" in found.story


def test_an_answer_that_is_wrong_in_every_order_says_that(tmp_path: Path) -> None:
    found = replay_answer(MIRROR, written(tmp_path, WRONG_AND_RACY), seed=0)
    assert found.found and found.culprit is None
    assert "No order was found in which the result is right" in found.story


def test_an_answer_that_is_wrong_without_a_race_has_nothing_to_replay(tmp_path: Path) -> None:
    wrong = HEAD + BODY.format(barrier="\n    cuda.syncthreads()", more=" + 1")
    found = replay_answer(MIRROR, written(tmp_path, wrong), seed=0)
    assert not found.found and "No race was found in mirror." in found.story
    assert "The result is wrong in every order" in found.story


def test_the_verdict_on_a_race_offers_the_replay(tmp_path: Path) -> None:
    message = check(MIRROR, answer=written(tmp_path, RACY), seed=0).message
    offer = '  replay: replay("mirror") looks for an order in which it goes wrong'
    assert offer in message
    assert "replay" not in check(MIRROR, answer=written(tmp_path, CLEAN), seed=0).message


PARTS = """from numba import cuda

@cuda.jit
def spread(out, a):
    i = cuda.grid(1)
    if i != 40:
        out[i] = a[i]
    out[40] = a[i]

@cuda.jit
def pick_one(out, parts):
    out[0] = parts[40]
"""


def _parts_and_out(inputs: Values) -> Values:
    parts = inputs["a"].copy()
    parts[40] = 63
    return {"parts": parts, "out": parts[40:41]}


@pytest.mark.parametrize("outputs", [("out",), ("parts", "out"), ("out", "parts")])
def test_a_parameter_may_have_the_name_of_an_output_of_a_later_launch(
    tmp_path: Path, outputs: tuple[str, ...]
) -> None:
    """What the first kernel calls `out` has 64 cells and is `parts`; the puzzle's `out` has one."""
    puzzle = KernelPuzzle(
        name="90_toys/two_launches",
        title="two launches",
        statement="Spread out, and pick one.",
        parameters={"spread": ("parts", "a"), "pick_one": ("out", "parts")},
        cases=(Case("visible example", {"size": 64}, visible=True),),
        random_case=lambda rng: Case("at random", {"size": 64}),
        inputs=lambda rng, case: {"a": np.arange(64, dtype=np.float32)},
        launches=lambda case: (
            Launch("spread", 2, 32, ("parts", "a")),
            Launch("pick_one", 1, 1, ("out", "parts")),
        ),
        reference=lambda inputs, case: {name: _parts_and_out(inputs)[name] for name in outputs},
        scratch=lambda inputs, case: {"parts": np.zeros(64, np.float32)},
        hints=("weak", "stronger", "strongest"),
    )
    found = replay_answer(puzzle, written(tmp_path, PARTS), seed=0)
    assert found.recording is not None and found.recording.kernel == "spread"
    told = next(line for line in found.story.splitlines() if line.startswith("The result"))
    later = "The result, which a later launch writes: out[0] is 31, and it should be 63."
    own = "The result: out[40] is 31, and it should be 63."
    # The one that this launch writes is told of where the puzzle asks for it.
    assert told == (own if "parts" in outputs else later)
    assert (found.culprit is not None) == ("parts" in outputs)


def test_what_cannot_be_replayed_is_said(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="there is no"):
        replay_answer(MIRROR, tmp_path / "missing.py")
    with pytest.raises(CourseError, match="defines no function mirror"):
        replay_answer(MIRROR, written(tmp_path, RACY.replace("def mirror", "def other")))
    with pytest.raises(CourseError, match="nothing_like_it"):
        replay_answer("nothing_like_it")


def test_no_replay_is_promised_of_a_fence_that_no_order_shows(tmp_path: Path) -> None:
    solution = solutions_folder() / "05_reductions_and_scans" / "last_block_sum.py"
    first, second, rest = solution.read_text().split("        cuda.threadfence()\n")
    path = tmp_path / "last_block_sum.py"
    path.write_text(f"{first}        cuda.threadfence()\n{second}{rest}")
    verdict = check("last_block_sum", answer=path, seed=0)
    assert verdict.diagnosis == "no-fence-after"
    assert "replay:" not in verdict.message
    found = replay_answer("last_block_sum", path, seed=0)
    assert not found.found
    assert "A fence is missing after an atomic" in found.story
    assert "No race was found" not in found.story
