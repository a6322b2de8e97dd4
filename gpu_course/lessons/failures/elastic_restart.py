"""Puzzle `elastic_restart`: a run that is killed goes on, on as many ranks or on others."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.on_ranks import ranks_of
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values
from simt.text import count

WHOLE, KILLED, SAME, OTHER = range(4)
"""The runs, in order."""
RUNS = (
    "without a failure", "that is killed", "on as many ranks", "on other ranks"
)  # fmt: skip
MORE_NUMBERS = 8
"""That a part may hold beside its share: counts of steps and of samples."""


def _case(
    name: str, before: int, after: int, *, length: int, batch: int, every: int, killed: int,
    steps: int, visible: bool = False,
) -> Case:  # fmt: skip
    sizes = {"ranks": max(before, after), "before": before, "after": after, "length": length}
    sizes |= {"batch": batch, "every": every, "killed": killed, "steps": steps}
    return Case(name, sizes, visible)


CASES = (
    _case(
        "visible example", 3, 2, length=7, batch=5, every=2, killed=5, steps=7, visible=True
    ),
    _case("a large model", 3, 2, length=700, batch=8, every=3, killed=4, steps=8),
    _case("one rank", 1, 1, length=5, batch=4, every=2, killed=3, steps=5),
    _case("from 4 ranks to 3", 4, 3, length=10, batch=9, every=3, killed=8, steps=9),
    _case("from 2 ranks to 4", 2, 4, length=9, batch=6, every=2, killed=2, steps=5),
    _case("fewer samples than ranks", 4, 2, length=6, batch=3, every=1, killed=2, steps=4),
    _case("fewer parameters than ranks", 4, 1, length=2, batch=4, every=2, killed=3, steps=6),
    _case("killed before it saved", 2, 1, length=4, batch=3, every=5, killed=4, steps=6),
)  # fmt: skip


def _random_case(rng: np.random.Generator) -> Case:
    before, after = (int(n) for n in rng.permutation([2, 3, 4])[:2])
    every, killed = int(rng.integers(2, 4)), int(rng.integers(4, 8))
    return _case(
        f"from {before} ranks to {after}, drawn at random", before, after,
        length=int(rng.integers(5, 30)), batch=int(rng.integers(5, 9)), every=every, killed=killed,
        steps=killed + int(rng.integers(1, 4)),
    )  # fmt: skip


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    s = case.sizes
    samples = s["batch"] * s["steps"] + 3
    return {
        "parameters": rng.normal(size=s["length"]),
        "x": rng.normal(size=(samples, s["length"])) / np.sqrt(s["length"]),
        "y": rng.uniform(-1, 1, samples),
        "order": [int(n) for n in rng.permutation(samples)],
    } | {name: s[name] for name in ("batch", "steps", "killed", "every", "before", "after")}


def trained(inputs: Values, steps: int) -> np.ndarray:
    """Returns (length,) the parameters after so many steps of one process.

    Args:
        inputs: of the puzzle.
        steps: from the beginning.
    """
    weights, batch = inputs["parameters"], inputs["batch"]
    m, v = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(steps):
        taken = inputs["order"][step * batch : (step + 1) * batch]
        rows = inputs["x"][taken]
        out = np.tanh(rows @ weights)
        mean = ((out - inputs["y"][taken]) * (1 - out**2)) @ rows / batch
        m, v = 0.9 * m + 0.1 * mean, 0.99 * v + 0.01 * mean**2
        m_hat, v_hat = m / (1 - 0.9 ** (step + 1)), v / (1 - 0.99 ** (step + 1))
        weights = weights - 0.01 * m_hat / (np.sqrt(v_hat) + 0.01)
    return weights


def _reference(inputs: Values, case: Case) -> Values:
    right, none = trained(inputs, inputs["steps"]), np.zeros(0)

    def on(ranks: int) -> tuple[np.ndarray, ...]:
        return tuple(right if rank < ranks else none for rank in range(ranks_of(case)))

    before, after = on(inputs["before"]), on(inputs["after"])
    return {"whole": before, "same": before, "other": after}


def _saved_at(inputs: Values) -> int:
    """Returns after how many steps the last checkpoint was that the killed run had saved."""
    done: int = inputs["killed"] // inputs["every"] * inputs["every"]
    return done


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    before, after, batch = inputs["before"], inputs["after"], inputs["batch"]
    began = {WHOLE: 0, KILLED: 0, SAME: _saved_at(inputs), OTHER: _saved_at(inputs)}
    for run, begin in began.items():
        ranks = after if run == OTHER else before
        # A rank that is not in a run has no list of it: the last run is the last of its list.
        lists = [got["seen"][rank][-1 if run == OTHER else run] for rank in range(ranks)]
        end = inputs["killed"] if run == KILLED else inputs["steps"]
        found = [sample for each in lists for sample in each]
        wanted = inputs["order"][begin * batch : end * batch]
        if again := set(found) - set(wanted):
            fact = f"the run {RUNS[run]}: {count(len(again), 'sample')} of steps that were done"
            return Judgement("seen-again", fact)
        due = end // inputs["every"] - begin // inputs["every"]
        for rank in range(ranks):
            saves = len(got["saved"][rank][-1 if run == OTHER else run])
            if saves != due:
                fact = f"the run {RUNS[run]}: rank {rank} saves {count(saves, 'time')}, not {due}"
                return Judgement("other-saves", fact)
        if twice := len(found) - len(set(found)):
            fact = f"the run {RUNS[run]}: {count(twice, 'sample')} asked for twice"
            return Judgement("seen-twice", fact)
        if missing := len(set(wanted) - set(found)):
            fact = f"the run {RUNS[run]}: {count(missing, 'sample')} asked for by no rank"
            return Judgement("not-all-seen", fact)
    for rank in range(before):
        if got["whole"][rank].tobytes() != got["same"][rank].tobytes():
            fact = f"rank {rank}: close to the run without a restart, and not the same bits"
            return Judgement("other-bits", fact)
    return _saved_too_much(inputs, case, got)


def _saved_too_much(inputs: Values, case: Case, got: Values) -> Judgement | None:
    length = case.sizes["length"]
    for rank, runs in enumerate(got["saved"]):
        for run, saves in enumerate(runs):
            last = run == len(runs) - 1 and rank < inputs["after"]
            ranks = inputs["after"] if last else inputs["before"]
            most = 3 * -(-length // ranks) + MORE_NUMBERS
            for _, numbers in saves:
                if numbers > most:
                    fact = f"rank {rank} of {ranks} saves {numbers} numbers; {most} are its share"
                    return Judgement("saves-everything", fact, "over-budget")
    return None


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if "failed" in got:
        return _without_the_group(inputs, case, got)
    for name in ("whole", "same", "other"):
        sizes = [np.shape(each) for each in got[name]]
        if sizes != [each.shape for each in expected[name]]:
            return "other-length"
    return None


def _without_the_group(inputs: Values, case: Case, got: Values) -> str | None:
    """Knows a collective of all ranks in a run that some of them have no part in.

    The harness has a barrier before each run, with no line of the answer on its stack.
    """
    own = [call for call in got["wire"] if call.rank == 0]
    begun = sum(call.kind == "barrier" and not call.line for call in own)
    there = inputs["after"] if begun - 1 == OTHER else inputs["before"]
    everybody = len(own[-1].group) == ranks_of(case) if own and own[-1].line else False
    return "without-group" if everybody and there < ranks_of(case) else None


ELASTIC_RESTART = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.failures.harness.elastic_restart",
    ranks=ranks_of,
    torch=True,
    tolerance=(1e-12, 1e-12),
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    judge=_judge,
    call=lambda inputs: (
        f"on {inputs['before']} ranks (whole), killed after step {inputs['killed']}, then on "
        f"{inputs['before']} (same) and on {inputs['after']} (other)"
    ),
    self_check="which samples are asked for, and what is saved",
)
