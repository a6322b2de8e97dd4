"""What must hold for every kernel puzzle; test_kernel_puzzles asks it of each."""

from __future__ import annotations

import ast
import re

import numpy as np

from gpu_course.grading.diagnoses.sentences import SENTENCES
from gpu_course.grading.kernel import sharing, trial
from gpu_course.puzzle.builders import ONE_CELL_EACH, SPECIAL_SIZES
from gpu_course.puzzle.specification import KernelPuzzle, Mistake
from gpu_course.units import of_so_many
from tests.course.puzzles import python_rules
from tests.course.puzzles.by_hand import SOLUTIONS, Outcome, first_failure, kernels, run_case
from tests.course.puzzles.loops import is_marked, repeats, scaled


def statement_of(puzzle: KernelPuzzle) -> str:
    """Returns what a puzzle asks, its solution's docstring, with one space between words."""
    return " ".join(puzzle.statement.split())


def cases_and_random(puzzle: KernelPuzzle, draws: int = 5) -> list:
    """Returns the puzzle's cases and some random ones."""
    rng = np.random.default_rng(7)
    return [*puzzle.cases, *(puzzle.random_case(rng) for _ in range(draws))]


def assert_solution_passes(puzzle: KernelPuzzle) -> None:
    functions = kernels(SOLUTIONS / f"{puzzle.name}.py")
    for case in cases_and_random(puzzle):
        assert run_case(puzzle, functions, case).reason is None, case


def assert_specification_parameters_agree(puzzle: KernelPuzzle) -> None:
    """The catalogue, the solution and every mistake name the same parameters in the same order."""
    solution = _definitions(f"{puzzle.name}.py")
    assert set(puzzle.functions) <= set(solution)
    for name, parameters in puzzle.parameters.items():
        assert solution[name] == parameters
    wrong = _definitions(f"{puzzle.lesson}/mistakes/{puzzle.short_name}.py")
    assert set(wrong) >= {mistake.function for mistake in puzzle.mistakes}
    for mistake in puzzle.mistakes:
        stands_for = mistake.stands_for or puzzle.functions[0]
        assert wrong[mistake.function] == puzzle.parameters[stands_for], mistake
    case = puzzle.cases[0]
    for launch in puzzle.launches(case):
        assert len(launch.args) == len(puzzle.parameters[launch.function])


def assert_specification_the_work_is_shared(puzzle: KernelPuzzle) -> None:
    """The statement says how, and some thread of the reference does about as much as it may."""
    assert puzzle.share is not None
    said = puzzle.share.words.removesuffix(".")
    assert said[1:] in statement_of(puzzle)  # At the beginning of a sentence, or within one.
    assert not statement_of(puzzle).endswith(f". {ONE_CELL_EACH.words}"), "a sentence by itself"
    assert any(mistake.diagnosis == "not-shared" for mistake in puzzle.mistakes)
    reached: dict[tuple[str, str], bool] = {}
    for case in puzzle.cases:
        tried = trial.reference_trial(puzzle, trial.prepare(puzzle, case, 0))
        assert list(sharing.unshared_results(puzzle, tried)) == []
        assert list(sharing.unshared_work(puzzle, tried)) == []
        # By scratch space blocks talk to each other, and asking may be an atomic.
        scratch = puzzle.scratch(tried.given.inputs, case) if puzzle.scratch else {}
        for launch, shares in zip(tried.given.launches, tried.shares, strict=True):
            for name in set(launch.args) & set(tried.given.expected) - set(scratch):
                (own,) = tried.own_names(launch, name)
                written = [s.cells.max() for s in shares if s.wrote and s.array == own]
                if not written:
                    continue  # what an earlier launch has written, and this one reads
                wrote = max(written)
                assert wrote <= puzzle.share.most(case, name)
                # A case of one cell leaves most threads without any.
                enough = puzzle.share.most(case, name) <= 2 * wrote
                key = (launch.function, name)
                reached[key] = reached.get(key, False) or enough
    assert all(reached.values()), reached


def _definitions(relative: str) -> dict[str, tuple[str, ...]]:
    tree = ast.parse((SOLUTIONS / relative).read_text(encoding="utf-8"))
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {node.name: tuple(arg.arg for arg in node.args.args) for node in found}


FULL_BLOCKS = "exactly one thread for each cell"
"""What a statement says where every block is full."""


def assert_specification_cases_tell_much(puzzle: KernelPuzzle) -> None:
    """A visible example first, one cell, sizes that do not divide the block; names apart.

    Where a puzzle promises that every block is full, one block stands for one cell.
    """
    assert puzzle.cases[0].visible
    assert sum(case.visible for case in puzzle.cases) == 1
    assert len({case.name for case in puzzle.cases}) == len(puzzle.cases)
    sizes = [case.sizes for case in puzzle.cases]
    cells = [
        s.get("size", s.get("rows", s.get("m", 0)) * s.get("cols", s.get("n", 0))) for s in sizes
    ]
    smallest = puzzle.constants["TPB"] if FULL_BLOCKS in statement_of(puzzle) else 1
    if "multiple of GROUP" in statement_of(puzzle):
        smallest = puzzle.constants["GROUP"]
    assert all(size % smallest == 0 for size in cells)
    assert smallest in cells or not any(cells)
    if "block" in sizes[0]:
        assert sizes[0]["size"] % sizes[0]["block"]
        assert any(s["size"] > s["block"] for s in sizes)
        assert any(s["size"] % s["block"] == 0 for s in sizes)
    if "block_x" in sizes[0]:
        many = [s for s in sizes if s["rows"] * s["cols"] > 1]
        assert all(s["rows"] != s["cols"] and s["block_x"] != s["block_y"] for s in many)
        assert any(s["rows"] > s["cols"] for s in many)
        assert any(s["rows"] < s["cols"] for s in many)


def assert_specification_inputs_show_mistakes(puzzle: KernelPuzzle) -> None:
    """Numbers are exact in binary, all different, never 0, never in order; a seed fixes them."""
    for case in cases_and_random(puzzle):
        inputs = puzzle.inputs(np.random.default_rng(1), case)
        again = puzzle.inputs(np.random.default_rng(1), case)
        for name, value in inputs.items():
            assert np.array_equal(value, again[name], equal_nan=True), name
            if not (isinstance(value, np.ndarray) and value.dtype == np.float32):
                continue
            if puzzle.scratch is not None and name in puzzle.scratch(inputs, case):
                continue
            if is_marked(puzzle, scaled):
                continue
            if case.sizes.get("lowest"):
                continue  # rows of hardly more than minus infinity
            # What earlier blocks have written is full of sums, and of NaN where there is none.
            if case.sizes.get("held_up"):
                value = inputs["a"]
            flat = value.ravel() / 2.0 ** case.sizes.get("doublings", 0)
            # There may be a NaN where the question is what becomes of it, and where nobody may ask.
            if is_marked(puzzle, repeats) or case.sizes.get("unasked"):
                flat = flat[~np.isnan(flat)]
            # Where the order of a sum is to show in its last bits, the numbers have many.
            if case.special or case.sizes.keys() & {*SPECIAL_SIZES}:
                flat = flat[np.isfinite(flat) & (flat != 0)]
            if not (puzzle.same_bits or puzzle.signed_zeros or puzzle.naive):
                assert np.all(flat * 8 == np.round(flat * 8))
            assert np.all(flat != 0)
            # So many tiles have more numbers than float32 has to add up without rounding.
            many = "held_up" in case.sizes
            assert len(np.unique(flat)) == flat.size or many or is_marked(puzzle, repeats)
            if flat.size > 2:
                steps = np.diff(flat)
                assert (steps > 0).any() and (steps < 0).any()
                assert not np.array_equal(flat, flat[::-1])


LAST_WITH_A_SPECIAL_CASE = "04"
"""Up to this lesson a puzzle has a case of NaN and infinities, and says what it promises of them.

In later lessons they stand where sums can tell what becomes of them.
"""


def assert_specification_says_what_it_promises_of_special_numbers(puzzle: KernelPuzzle) -> None:
    """The statement names NaN, and a case holds what it promises of it and of infinities."""
    if puzzle.lesson[:2] > LAST_WITH_A_SPECIAL_CASE:
        return
    case = puzzle.cases[-1]
    if not _arrays(puzzle.inputs(np.random.default_rng(0), case)):
        return  # no number comes in
    said = statement_of(puzzle)
    assert "NaN" in said and "infinit" in said
    if "no NaN and no infinities" in said:
        assert not case.special
        return
    floats = [
        value.reshape(-1)
        for value in _arrays(puzzle.inputs(np.random.default_rng(0), case))
        if value.dtype == np.float32
    ]
    found = np.concatenate(floats)
    assert np.isposinf(found).any() and np.isneginf(found).any() and (found == 0).any()
    assert np.isnan(found).any() != ("no NaN" in said)
    # The last cell of an array is what a clamped load reads for a thread without a cell.
    assert any(not np.isfinite(each[-1]) for each in floats)


def assert_specification_holds_special_numbers_where_they_matter(puzzle: KernelPuzzle) -> None:
    """The statement names NaN and infinities, and some case of floats has what is no number."""
    if puzzle.lesson[:2] <= LAST_WITH_A_SPECIAL_CASE:
        return
    floats = [
        value
        for case in puzzle.cases
        for value in _arrays(puzzle.inputs(np.random.default_rng(0), case))
        if value.dtype == np.float32
    ]
    if not floats:
        return
    assert any(np.isinf(each).any() for each in floats)
    assert "NaN" in puzzle.statement and "infinit" in puzzle.statement


_RESULTS = (np.float32, np.int32, np.int64, np.uint8, np.uint16)
"""What kernels give: numbers, counts, and the bits of numbers in short formats."""


def assert_specification_outputs_fit(puzzle: KernelPuzzle) -> None:
    """Outputs have the reference's shapes and types; the reference leaves its inputs alone."""
    for case in cases_and_random(puzzle):
        inputs = puzzle.inputs(np.random.default_rng(2), case)
        before = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in inputs.items()}
        outputs, expected = puzzle.outputs(inputs, case), puzzle.reference(inputs, case)
        scratch = outputs.keys() - expected.keys()
        assert expected.keys() <= outputs.keys()
        assert not scratch or puzzle.scratch is not None
        for name in expected:
            assert outputs[name].shape == expected[name].shape
            assert outputs[name].dtype == expected[name].dtype
            assert expected[name].dtype in _RESULTS
            assert not any(np.shares_memory(expected[name], v) for v in _arrays(inputs))
        for name, value in inputs.items():
            assert np.array_equal(value, before[name], equal_nan=True), name


def _arrays(inputs: dict) -> list[np.ndarray]:
    return [value for value in inputs.values() if isinstance(value, np.ndarray)]


def outcome_of(puzzle: KernelPuzzle, mistake: Mistake) -> Outcome:
    """Returns what one mistake leads to, standing in an otherwise right answer."""
    right = kernels(SOLUTIONS / f"{puzzle.name}.py")
    path = SOLUTIONS / puzzle.lesson / "mistakes" / f"{puzzle.short_name}.py"
    wrong = kernels(path)
    functions = dict(right)
    functions[mistake.stands_for or puzzle.functions[0]] = wrong[mistake.function]
    # Each file is bound to its own `cuda`: both are told which thread is running.
    functions["cuda"] = _Both(right["cuda"], wrong["cuda"])
    return first_failure(puzzle, functions)


class _Both:
    def __init__(self, *cudas) -> None:
        self.cudas, self.accesses = cudas, 0

    def become(self, *place) -> None:
        self.accesses = 0
        for cuda in self.cudas:
            cuda.become(*place)
        self.me = self.cudas[0].me


def assert_mistake_is_told_apart(puzzle: KernelPuzzle, mistake: Mistake) -> None:
    """The mistake ends as the catalogue says, with a sentence of this puzzle for it."""
    outcome = outcome_of(puzzle, mistake)
    if mistake.diagnosis == "over-budget":  # A counter of the simulator says so, and none is here.
        assert outcome.reason in (None, "over-budget"), mistake
        return
    assert outcome.reason == mistake.reason, mistake
    assert mistake.diagnosis in puzzle.diagnoses or mistake.reason == "over-budget", mistake
    if outcome.diagnosis is not None:
        assert outcome.diagnosis == mistake.diagnosis, mistake


def assert_specification_words_are_in_order(puzzle: KernelPuzzle) -> None:
    """Three hints that rise and hold no line of the answer; every own key can be diagnosed."""
    assert len(puzzle.hints) == 3
    assert len(puzzle.mistakes) >= 3
    text = (SOLUTIONS / f"{puzzle.name}.py").read_text(encoding="utf-8")
    regions = re.findall(r"# answer\n(.*?)# end answer", text, re.DOTALL)
    lines = [line.strip() for region in regions for line in region.splitlines() if line.strip()]
    # The statement has tables, so its gaps are looked for where a sentence goes on.
    assert re.search(r"[.?)]$", puzzle.statement)
    assert not re.search(r"[.:;?]  ", puzzle.statement)
    words = " ".join((*puzzle.hints, *puzzle.diagnoses.values()))
    for hint in (*puzzle.hints, *puzzle.diagnoses.values()):
        assert not any(line in hint for line in lines)
        assert hint.rstrip().endswith((".", "?"))
    assert "  " not in words
    # "right, but 12 WORDS, and 4 would do": a comma follows already.
    assert all(not budget.words or budget.words[-1].isalnum() for budget in puzzle.budgets)
    for budget in puzzle.budgets:
        # "right, but 1 excess sector in loads": whatever is counted has a singular.
        assert of_so_many(1, budget.words) != f"1 {budget.words}" or not budget.words
    # What is said of a race in a tile is not true of one in global memory.
    race = puzzle.diagnoses.get("race", "")
    of_tiles = re.search(r"\btiles?\b|shared memory", race)
    of_more = re.search(r"\bout\b|, or a place of the tile", race)
    assert not of_tiles or of_more or "race in global memory" in puzzle.diagnoses
    # Nor is what is said of an index into the arrays of the launch true of the kernel's own.
    outside = puzzle.diagnoses.get("out-of-bounds", "the tile").lower()
    makes = "cuda.shared.array" in text
    assert not makes or "the tile" in outside or _IN_A_TILE in puzzle.diagnoses
    own = set(puzzle.diagnoses) - set(SENTENCES)
    assert own <= {mistake.diagnosis for mistake in puzzle.mistakes} | _SIBLINGS


def assert_specification_the_statement_fits_a_stub(puzzle: KernelPuzzle) -> None:
    """It begins with a sentence, then says how the kernel is called; no line is too long."""
    python_rules.assert_the_statement_begins_with_a_sentence_and_fits_a_stub(puzzle)


_IN_A_TILE = "out-of-bounds in shared memory"
_SIBLINGS = {
    "columns-alike",
    "race in global memory",
    "began-too-high",
    "counts-on",
    "prefix-wrong",
    _IN_A_TILE,
}
"""Keys that mirror another mistake's, or have a kernel in rare.md: they need none of their own."""
