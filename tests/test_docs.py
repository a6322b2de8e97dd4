"""The pages in docs/: their examples run, their tables are the simulator's own."""

from __future__ import annotations

import doctest
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from gpu_course.grading.card import targets
from gpu_course.grading.kernel import on_card
from gpu_course.hardware import guard_zones, records
from gpu_course.puzzle import Case, KernelPuzzle, index
from gpu_course.units import KIB
from simt.compiled.facts.analysis import NotCompiled
from simt.compiled.run import run
from simt.errors import HAZARD_ERRORS, KernelRefused
from simt.kernel import legality, source
from simt.kernel.intrinsics import NAMES
from simt.kernel.lower import lower
from simt.machine import interpreter, launch, memory, scheduler
from simt.machine.launch import dim3
from simt.observe import touches
from simt.simulator import STEP_BUDGET, simulate
from simt.vocabulary import allocate, printing

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
SIMULATOR = (ROOT / "docs" / "simulator.md").read_text(encoding="utf-8")


def run_session(text: str, name: str) -> doctest.TestResults:
    session = "\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))
    test = doctest.DocTestParser().get_doctest(session, {}, name, name, 0)
    return doctest.DocTestRunner(verbose=False).run(test)


def rows(part: str) -> list[list[str]]:
    """The cells of the table that stands between a part's two marks."""
    found = re.search(rf"<!-- {part} -->\n(.*?)<!-- end {part} -->", SIMULATOR, flags=re.DOTALL)
    assert found is not None
    lines = found.group(1).splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_examples_do_what_the_page_says(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    result = run_session(text, page.name)
    assert result.failed == 0
    assert result.attempted == text.count("\n>>> ")


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_files_and_folders_that_a_page_names_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:simt|tests|benchmarks)/[\w/.]*)`", text))
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_an_example_that_says_something_else_would_be_seen() -> None:
    broken = SIMULATOR.replace("12 of 32 threads miss", "13 of 32 threads miss")
    assert run_session(broken, "broken").failed == 1


def spelled_out(cell: str) -> list[str]:
    """The names in a cell: `.y` after `cuda.threadIdx.x` is `cuda.threadIdx.y`."""
    names: list[str] = []
    for word in re.findall(r"`([^`]+)`", cell):
        home = names[-1].rpartition(".")[0] if names else ""
        names.append(home + word if word.startswith(".") else word)
    return names


def test_the_table_of_names_is_what_the_simulator_knows() -> None:
    listed = [name for _, cell in rows("names") for name in spelled_out(cell)]
    assert len(listed) == len(set(listed))
    known = {name.removeprefix("builtin.") for name in NAMES}
    assert known - set(listed) == set(), "docs/simulator.md lacks these"
    assert set(listed) - known == set(), "docs/simulator.md has these, and the simulator has not"


@pytest.mark.parametrize("row", rows("refused"), ids=lambda row: row[0])
def test_what_the_page_calls_refused_is_refused(row: list[str], tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "import numpy as np\nfrom numba import cuda, float32\n\n@cuda.jit\n"
        f"def kernel(a):\n    {row[0].strip('`')}\n"
    )
    with pytest.raises(KernelRefused) as caught:
        simulate(f"{path}:kernel")[1, 1](np.zeros(4))
    assert caught.value.line == 6


@pytest.mark.parametrize("row", rows("interpreted"), ids=lambda row: row[0])
def test_what_the_page_calls_interpreted_is_not_compiled(row: list[str], tmp_path: Path) -> None:
    with pytest.raises(NotCompiled):
        _compiled(row[0].strip("`"), tmp_path)


def test_a_line_that_is_compiled_is_not_taken_for_one_that_stays(tmp_path: Path) -> None:
    assert _compiled("x[0] = a[0]", tmp_path) is not None


def test_the_times_are_those_of_the_record() -> None:
    """`python benchmarks/simulator.py --record` writes both."""
    path = ROOT / "benchmarks" / "records" / "simulator.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    listed = rows("speed")
    assert [name for name, *_ in listed] == [case["name"] for case in record["cases"]]
    columns = ("interpreted", "compiled", "loops", "numba", "compiling")
    for (_, *cells), case in zip(listed, record["cases"], strict=True):
        for cell, column in zip(cells, columns, strict=True):
            number, digits = case[column], len(cell.partition(".")[2])
            assert cell == ("" if number is None else f"{number:,.{digits}f}")
    versions = f"{record['processor']}, Python {record['python']}, Numba {record['numba']}"
    assert versions in " ".join(SIMULATOR.split())


def _compiled(line: str, folder: Path) -> object:
    """What compiled code says of a kernel with one line."""
    path = folder / "kernel.py"
    path.write_text(f"from numba import cuda\n\n\ndef kernel(a, x):\n    {line}\n")
    program = simulate(f"{path}:kernel").program
    values = launch.bind_arguments(program, (np.zeros(4, np.int64), np.zeros(4, np.float32)))
    arrays = memory.bind(values)
    given = {name: launch.bound(name, value, arrays) for name, value in values.items()}
    code = lower(program.written, tuple(map(launch.type_of, values.values())))
    return run(code, (1, 1, 1), (1, 1, 1), given, np.zeros(1, np.int64), STEP_BUDGET)


def test_every_verdict_has_its_section() -> None:
    verdicts = SIMULATOR.partition("## How each verdict")[2].partition("\n## ")[0]
    assert set(re.findall(r"^### (.+)$", verdicts, flags=re.MULTILINE)) == set(HAZARD_ERRORS)


def test_the_limits_are_the_simulators() -> None:
    assert [int(number.replace(",", "")) for _, number in rows("limits")] == [
        launch.MAX_THREADS_PER_BLOCK,
        launch.MAX_LANES,
        STEP_BUDGET,
        scheduler.STEPS_FACTOR * STEP_BUDGET,
        scheduler.MAX_LANES["warps"],
        scheduler.MAX_LANES["threads"],
        allocate.MAX_STATIC_BYTES,
        allocate.MAX_SHARED_BYTES,
        allocate.MAX_LOCAL_BYTES,
        touches.MAX_LANES,
        touches.MAX_LANES_VALUED,
        printing.MAX_LINES,
        source.MAX_SOURCE_BYTES,
        legality.MAX_NODES,
        legality.MAX_CALLS_DEEP,
        interpreter.MAX_CALLS_UNDER_WAY,
    ]


CARD = (ROOT / "docs" / "real_card.md").read_text(encoding="utf-8")


def test_the_page_on_real_cards_has_the_targets_of_the_table() -> None:
    found = re.search(r"<!-- targets -->\n(.*?)<!-- end targets -->", CARD, flags=re.DOTALL)
    assert found is not None
    of = {"copy": "of a copy's bytes per second", "library": "of the library's speed"}
    assert found.group(1).splitlines()[2:] == [
        f"| {kind.name} | {kind.share:.0%} {of[kind.of]} |" for kind in targets.kinds()
    ]


def test_the_page_says_in_one_line_what_has_never_run_on_a_card() -> None:
    """Whoever brings a record from a card takes back that it is all."""
    ran = {each.part for each in records.records()}
    assert ("**What has never run on a card:** all of it" in CARD) == (not ran)
    assert "**What has never run on a card:**" in CARD


def test_what_a_card_said_is_what_its_records_say() -> None:
    """Each figure of the section, from the record; a new record of the card has it written anew."""
    said = " ".join(CARD.partition("## What an H200 said")[2].split())
    solutions, faults, kernels, counters, timings = (
        records.record(part, "nvidia-h200")
        for part in ("solutions", "faults", "kernels", "counters", "timings")
    )
    assert solutions and faults and kernels and counters and timings
    states = [each["state"] for each in solutions.items.values()]
    assert f"All {len(states)} solutions are right" in said and set(states) == {"right"}
    twins = [each for name, each in faults.items.items() if name.startswith("twin: ")]
    assert f"The {len(twins)} kernels without a fault" in said
    assert all(each["state"] == "agrees" for each in twins)
    agree = sum(each["state"] == "agrees" for each in kernels.items.values())
    assert f"and {agree} of {len(kernels.items)} others" in said
    races = [e for e in faults.items.values() if "race" in e.get("kinds", ())]
    same = [each for each in races if each["same_each_time"]]
    assert f"in {len(same)} of {len(races)} planted ones" in said
    assert f"Of those, {sum(each['as_simulated'] for each in same)} left" in said
    launches = [e["state"] for e in counters.items.values() if e["state"] != "counted"]
    assert f"Of {len(launches)} launches of solutions {launches.count('equal')} have" in said
    assert f"In {launches.count('other requests')} the compiler" in said
    differs = [(n, e) for n, e in counters.items.items() if e["state"] == "differs"]
    ((name, counted),) = differs
    assert f"In {len(differs)}, `{name.partition(':')[0]}`, the card counts" in said
    assert f"counts {counted['gpu']['red.sectors']} sectors of atomics" in said
    assert f"the simulator {counted['simulator']['red.sectors']}." in said
    small = [e for e in counters.items.values() if "shared_load.conflicts" in e.get("gpu", {})]
    assert f"equal in all {len(small)} small kernels" in said
    for each in small:
        for kind in ("shared_load.conflicts", "shared_store.conflicts"):
            assert each["gpu"][kind] == each["simulator"][kind]
    standings = targets.standings(lambda puzzle: records.timing(puzzle, "nvidia-h200"))
    short = [each for each in standings if each.state == targets.SHORT]
    rates = {each.puzzle: _blocks_per_s(each.puzzle, timings) for each in short}
    most = max(rates.values())
    assert f"about {most / 1e9:.2f} billion blocks" in said
    assert f"that is {most * 64 * 8 / 1e9:.0f} GB/s" in said
    bound = sum(rate > 0.9 * most for rate in rates.values())
    assert f"Of the {len(short)} kernels that are short of their target, {bound} start" in said
    reached = sum(each.state == targets.REACHED for each in standings)
    assert f"**At their targets**: {reached} kernels" in said


def _blocks_per_s(puzzle: str, timings: records.Record) -> float:
    """How many blocks a card started in a second, over all launches of a timed case."""
    found = timings.items[puzzle]
    kernel = index.find(puzzle)
    assert isinstance(kernel, KernelPuzzle)
    launches = kernel.launches(Case("timed", found["sizes"]))
    return sum(math.prod(dim3(each.grid, "grid")) for each in launches) / found["seconds"]


def test_the_limits_of_a_check_on_a_card_are_those_of_the_code() -> None:
    assert f"zones of {guard_zones.ZONE_BYTES // KIB} KiB" in CARD
    assert f"has {on_card.FIRST_S:.0f} seconds" in CARD
    assert f"further one {on_card.CASE_S:.0f}." in CARD
    assert f"right in all {len(index.find('guard').cases) + 1} cases, each twice" in CARD
