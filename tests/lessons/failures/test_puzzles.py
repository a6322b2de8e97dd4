"""What is particular to the puzzles of lesson 32."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_course.grading.check import check
from gpu_course.lessons.failures.curves import Planted, drawn
from gpu_course.lessons.failures.elastic_restart import ELASTIC_RESTART, trained
from gpu_course.lessons.failures.find_the_faulty_rank import FIND_THE_FAULTY_RANK, FLEETS
from gpu_course.lessons.failures.find_the_spike import FIND_THE_SPIKE
from gpu_course.lessons.failures.fleet import LEAST_TICKS, TICK_S, Fleet, flipped, recorded
from gpu_course.lessons.failures.goodput import GOODPUT, happened
from gpu_course.lessons.failures.harness import elastic_restart
from gpu_course.lessons.failures.optimal_interval import OPTIMAL_INTERVAL
from gpu_course.lessons.failures.parse_log import PARSE_LOG, read, story_of
from gpu_course.lessons.failures.training_log import Record, told
from gpu_course.planner.goodput import useful_share
from gpu_course.puzzle import index
from gpu_course.puzzle.harness import Unusable
from gpu_course.puzzle.specification import Case, PythonPuzzle
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.course.puzzles.python_rules import cases_and_random, solution_of

LESSON = index.lesson("failures")


def given(puzzle: PythonPuzzle, draws: int = 8):
    """Every case and some drawn ones, each with its inputs."""
    for number, case in enumerate(cases_and_random(puzzle, draws)):
        yield case, puzzle.inputs(np.random.default_rng(number), case)


def test_the_lesson_is_found_by_its_number_and_its_topic() -> None:
    assert index.lesson("32") is index.lesson("failures")


@pytest.mark.parametrize("puzzle", LESSON.puzzles, ids=lambda puzzle: puzzle.short_name)
@pytest.mark.parametrize("seed", range(3))
def test_a_solution_passes_whatever_is_drawn(puzzle: PythonPuzzle, seed: int) -> None:
    verdict = check(puzzle, answer=SOLUTIONS / f"{puzzle.name}.py", seed=seed)
    assert verdict.passed, verdict.message


def test_dalys_interval_is_near_the_best_there_is() -> None:
    """Within a percent for short writes: the best is where the derivative is 0, by bisection."""
    solution = solution_of(OPTIMAL_INTERVAL)["optimal_interval"]
    for write_s in (1.0, 30.0, 300.0, 3000.0):
        mtbf_s = 28_800.0
        low, high = 0.0, mtbf_s
        for _ in range(200):
            t = (low + high) / 2
            # (1 - t / M) e^((t + write) / M) falls with t, and is 1 at the best interval.
            above = (1 - t / mtbf_s) * math.exp((t + write_s) / mtbf_s) > 1
            low, high = (t, high) if above else (low, t)
        daly_s, useful = solution(1, mtbf_s, write_s, 200.0)[1:]
        assert daly_s == pytest.approx(low, rel=0.01)
        best = useful_share(mtbf_s, low, write_s, 200.0)
        assert 0 <= best - useful < 1e-5


def test_the_law_of_the_interval_is_what_runs_that_fail_by_chance_give() -> None:
    """The event simulation and the formula know nothing of each other."""
    rng = np.random.default_rng(32)
    end, mtbf_s, interval, write, recover = 3_000_000, 4000.0, 400, 45, 150
    shares = []
    for _ in range(40):
        failures = np.sort(rng.integers(0, end, rng.poisson(end / mtbf_s))).tolist()
        spent = happened(failures, end, interval, write, True, recover, 10**6, 1)
        assert sum(spent.values()) == end
        shares.append(spent["useful"] / end)
    law = useful_share(mtbf_s, interval, write, recover)
    error = np.std(shares, ddof=1) / math.sqrt(len(shares))
    assert abs(np.mean(shares) - law) < 4 * error
    assert error < 0.001, "close enough to tell the law from its first approximation"
    first_order = 1 - write / interval - interval / (2 * mtbf_s) - recover / mtbf_s
    assert abs(first_order - law) > 8 * error


def second_by_second(
    failures, end, interval, write, blocking, recover, spares, repair
) -> dict[str, int]:
    """Looks at every second, with a count of machines and no formula."""
    spent = dict.fromkeys(("useful", "writing", "lost", "down"), 0)
    kept, at_save, writes_until, since = 0, 0, None, 0
    trained, ready, back, down_until, waiting = 0, spares, [], None, False
    for now in range(end):
        if writes_until == now:
            kept, writes_until = at_save, None
            if blocking:
                since = 0
        ready += back.count(now)
        for _ in range(failures.count(now)):
            spent["lost"] += trained - kept
            trained, writes_until, since = kept, None, 0
            ready, waiting, down_until = ready - 1, True, None
            back.append(now + repair)
        if waiting and ready >= 0:
            waiting, down_until = False, now + recover
        if down_until == now:
            down_until = None
        if waiting or down_until is not None:
            spent["down"] += 1
            continue
        if since == interval and not (blocking and writes_until):
            since = 0 if not blocking else since
            if writes_until is None:
                at_save, writes_until = trained, now + write
        if blocking and writes_until is not None:
            spent["writing"] += 1
        else:
            trained, since = trained + 1, since + 1
    return spent | {"useful": trained}


def test_a_run_is_what_it_is_second_by_second() -> None:
    solution = solution_of(GOODPUT)["goodput"]
    for case, inputs in given(GOODPUT, draws=30):
        if inputs["end"] > 100_000:
            continue
        expected = second_by_second(**inputs)
        assert GOODPUT.reference(inputs, case)["result"] == expected, case.name
        assert solution(**inputs) == expected, case.name
        assert sum(expected.values()) == inputs["end"]


def _as_text(result: dict[str, Any]) -> str:
    """As text NaN is equal to NaN."""
    return repr(result | {"lost_ms": f"{result['lost_ms']:.3f}"})


def test_what_is_left_of_a_log_is_what_its_story_tells() -> None:
    """The log is written from what happened; the reference and the solution read the text alone."""
    solution = solution_of(PARSE_LOG)["parse_log"]
    cuts = 0
    for number, case in enumerate(cases_and_random(PARSE_LOG, draws=40)):
        ranks, attempts = story_of(np.random.default_rng(number), case)
        story = told(np.random.default_rng(number), attempts, ranks)
        assert _as_text(read(story.text)) == _as_text(story.result), case.name
        assert _as_text(solution(story.text)) == _as_text(story.result), case.name
        cuts += any(line.count("[default") > 1 for line in story.text.split("\n"))
    assert cuts > 10


def test_a_record_is_printed_as_megatron_does() -> None:
    """Field by field of its training_log, the ones that the puzzle reads and those around them."""
    line = Record(1201, "2.345678E+00", "105220.3", "149.02").line
    names = [field.split(":")[0].strip() for field in line.strip(" |").split(" | ")]
    assert names[0].split() == ["iteration", "1201/", "115000"]
    assert names[1:4] == ["consumed samples", "elapsed time per iteration (ms)", "learning rate"]
    assert {"lm loss", "grad norm", "number of nan iterations", "TFLOPs"} < set(names)
    assert "lm loss" not in Record(1201, "", "105220.3", "149.02").line


def test_a_sound_run_raises_no_alarm_and_a_planted_fault_does() -> None:
    """The planted step is found within half a window: a median moves when a half has changed."""
    solution = solution_of(FIND_THE_SPIKE)["find_the_spike"]
    for seed in range(60):
        rng = np.random.default_rng(seed)
        sound = Planted(150, hiccups=(30, 77, 78), norms_alone={50: 2}, drift=2.0, no_rate=(9,))
        assert solution(*drawn(rng, sound), 16, 4.0) == {"spikes": [], "slower": None}
        at, spike = (int(step) for step in rng.choice(np.arange(30, 120), 2, replace=False))
        found = solution(*drawn(rng, replace(sound, spikes={spike: 1.6}, slow={at: 9})), 16, 4.0)
        assert found["spikes"] == [(spike, spike)]
        assert abs(found["slower"] - at) <= 8


def test_the_numbers_of_bloom_are_found() -> None:
    """149 to 140 TFLOP/s, and a loss of 5.10 with a norm of 960 (shared with the discussion)."""
    solution = solution_of(FIND_THE_SPIKE)["find_the_spike"]
    found = solution([2.0] * 9 + [5.10], [0.2] * 9 + [960.0], [149.0] * 5 + [140.0] * 5, 4, 5.0)
    assert found == {"spikes": [(9, 9)], "slower": 5}


def _is_slow(fleet: Fleet, times: int) -> bool:
    return 2 * times > fleet.steps


@pytest.mark.parametrize("name", FLEETS)
def test_what_is_planted_in_a_fleet_is_found_and_nothing_else(name: str) -> None:
    """The reference and the solution against what was planted, which neither of them sees."""
    solution = solution_of(FIND_THE_FAULTY_RANK)["find_the_faulty_rank"]
    fleet, case = FLEETS[name], Case(name, {"fleet": list(FLEETS).index(name)})
    for seed in range(10):
        inputs = FIND_THE_FAULTY_RANK.inputs(np.random.default_rng(seed), case)
        slow = [
            rank
            for rank, (ticks, times) in fleet.late.items()
            if ticks >= LEAST_TICKS and _is_slow(fleet, times)
        ]
        planted = fleet.flips.keys() | fleet.spoiled.keys()
        corrupt = sorted(planted, key=lambda at: (at[0], math.inf if at[1] is None else at[1]))
        expected = {"slow": sorted(slow), "corrupt": corrupt}
        assert FIND_THE_FAULTY_RANK.reference(inputs, case)["result"] == expected
        assert solution(**inputs) == expected


def test_a_sound_fleet_is_sound_whatever_is_drawn() -> None:
    solution = solution_of(FIND_THE_FAULTY_RANK)["find_the_faulty_rank"]
    for seed in range(100):
        rng = np.random.default_rng(seed)
        ranks, steps = int(rng.integers(1, 20)), int(rng.integers(10, 60))
        pauses = tuple(rng.integers(0, ranks, 4).tolist())
        fleet = Fleet(ranks, steps, pauses=pauses, cancels=bool(seed % 2))
        found = solution(**recorded(rng, fleet), least=LEAST_TICKS * TICK_S)
        assert found == {"slow": [], "corrupt": []}


def test_a_flipped_bit_is_one_bit_of_the_number() -> None:
    for bit in range(64):
        assert flipped(flipped(1.75, bit), bit) == 1.75
        assert flipped(1.75, bit) != 1.75
    assert flipped(1.0, 63) == -1.0


def test_one_process_trains_as_adam_of_pytorch_does() -> None:
    """The reference of elastic_restart, with PyTorch's Adam and autograd in its place."""
    torch = pytest.importorskip("torch")
    case = ELASTIC_RESTART.cases[0]
    inputs = ELASTIC_RESTART.inputs(np.random.default_rng(5), case)
    weights = torch.nn.Parameter(torch.from_numpy(inputs["parameters"].copy()))
    adam = torch.optim.Adam([weights], lr=0.01, betas=(0.9, 0.99), eps=0.01)
    x, y = torch.from_numpy(inputs["x"]), torch.from_numpy(inputs["y"])
    for step in range(inputs["steps"]):
        taken = inputs["order"][step * inputs["batch"] : (step + 1) * inputs["batch"]]
        adam.zero_grad()
        ((torch.tanh(x[taken] @ weights) - y[taken]) ** 2 / 2).mean().backward()
        adam.step()
    expected = trained(inputs, inputs["steps"])
    np.testing.assert_allclose(weights.detach().numpy(), expected, rtol=1e-11)
    assert not np.allclose(trained(inputs, inputs["steps"] - 1), expected, rtol=1e-4)


def test_a_restart_is_asked_for_in_every_direction() -> None:
    pairs = {(case.sizes["before"], case.sizes["after"]) for case in ELASTIC_RESTART.cases}
    signs = {(after > before) - (after < before) for before, after in pairs}
    assert signs == {-1, 0, 1}
    for case in ELASTIC_RESTART.cases:
        sizes = case.sizes
        done = sizes["killed"] // sizes["every"] * sizes["every"]
        assert done < sizes["steps"] and sizes["killed"] < sizes["steps"]


def test_a_part_is_weighed_in_numbers_of_eight_bytes() -> None:
    torch = pytest.importorskip("torch")
    numbers = elastic_restart._numbers
    assert numbers({"state": torch.zeros(3, 4, dtype=torch.float64), "done": 7}) == 13
    assert numbers({"state": torch.zeros(5, dtype=torch.complex128)}) == 10
    assert numbers({"flags": torch.zeros(9, dtype=torch.bool), "rate": 0.5}) == 3
    for part in ([1.0], {"all": 1 << 63}, {"all": "text"}, {1: 2.0}, {"all": [1.0]}):
        with pytest.raises(Unusable):
            numbers(part)


@pytest.mark.parametrize(
    ("puzzle", "body", "said", "not_said"),
    [
        # Nobody is named, and so nobody who waits longest.
        (
            FIND_THE_FAULTY_RANK, "return {'slow': [], 'corrupt': []}",
            "There is an alarm too many, or one is missing.", "You name",
        ),
        (GOODPUT, "return None", "interval=60, write=10, blocking=True", "1100, 60"),
        (ELASTIC_RESTART, "return parameters", "on 3 (same) and on 2 (other)", "Traceback"),
    ],
    ids=lambda each: getattr(each, "short_name", None),
)  # fmt: skip
def test_a_message_is_true_of_who_does_nothing(
    puzzle: PythonPuzzle, body: str, said: str, not_said: str, tmp_path: Path
) -> None:
    (function,) = puzzle.functions
    answer = tmp_path / "answer.py"
    names = ", ".join(puzzle.parameters[function])
    answer.write_text(f"def {function}({names}):\n    {body}\n", encoding="utf-8")
    found = " ".join(check(puzzle, answer=answer).message.split())
    assert said in found and not_said not in found


def test_a_mean_of_distances_is_not_called_a_standard_deviation(tmp_path: Path) -> None:
    """Its middle is the median, so cases pass in which the named mistakes are wrong already."""
    text = (SOLUTIONS / f"{FIND_THE_SPIKE.name}.py").read_text(encoding="utf-8")
    old = "median(abs(each - middle) for each in series)"
    assert old in text
    answer = tmp_path / "answer.py"
    answer.write_text(text.replace(old, f"mean{old.removeprefix('median')}").replace(
        "import median", "import mean, median"
    ), encoding="utf-8")  # fmt: skip
    found = " ".join(check(FIND_THE_SPIKE, answer=answer).message.split())
    assert "There are too many spikes, or too few." in found
    assert "deviation" not in found
