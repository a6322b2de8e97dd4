"""The plan of lesson 33: a sound one passes, faults are found, and nothing in a plan breaks it."""

from __future__ import annotations

import copy
import html.parser
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpu_course.errors import CourseError
from gpu_course.lessons.across_oceans import capstone
from gpu_course.lessons.across_oceans.capstone import (
    CRITERIA,
    RISKS,
    draft,
    exported,
    grade_of,
    graded,
    rubric,
)
from gpu_course.lessons.across_oceans.plan_page import plan_in
from gpu_course.lessons.across_oceans.plan_parts import PARTS, SOURCED, WIDTH, Grade, source_kind
from gpu_course.lessons.across_oceans.shows import page_of, planned
from gpu_course.notebook.note import Note
from tests.lessons.across_oceans.plans import sound

Change = Callable[[dict[str, Any]], Any]


def changed(change: Change) -> Grade:
    """Returns the grade of the sound plan with a change."""
    plan = sound()
    change(plan)
    return grade_of(plan)


def unmet(grade: Grade) -> set[str]:
    return {each.key for each in grade.findings if not each.met}


def put(part: str, **values: Any) -> Change:
    return lambda plan: plan[part].update(values)


def times(part: str, name: str, factor: float) -> Change:
    return lambda plan: plan[part].update({name: plan[part][name] * factor})


def test_a_sound_plan_meets_every_criterion() -> None:
    grade = grade_of(sound())
    assert grade.passed and unmet(grade) == set(), repr(grade)
    assert grade.points == grade.of == 100


def test_a_draft_waits_for_what_it_does_not_say() -> None:
    grade = grade_of(draft())
    waits = {each.key for each in grade.findings if each.met is None}
    assert waits == {"memory", "step", "days", "interval", "goodput", "cost"}
    assert unmet(grade) - waits == {"fast", "sources", "risks"}
    draft()["model"]["layers"] = 1
    assert draft()["model"]["layers"] == 32


FAULTS: dict[str, tuple[Change, set[str]]] = {
    "a batch that ranks do not divide": (
        put("batch", sequences=500),
        {"legal", "fits", "memory", "step", "fast"},
    ),
    "memory of parameters alone": (put("run", memory_gib=15), {"memory"}),
    "all of the GPU's memory": (put("run", memory_gib=80), {"memory"}),
    "a step at the peak": (times("run", "step_s", 0.5), {"step", "days"}),
    "a layout of much traffic": (
        put("layout", dp=32, tp=8, pp=1, zero=0),
        {"memory", "step", "fast"},
    ),
    "days without failures, at half the goodput": (
        put("failures", goodput=0.5),
        {"days", "goodput"},
    ),
    "hours for days": (times("run", "days", 24), {"days", "cost"}),
    "a checkpoint every minute": (put("failures", interval_s=60), {"interval", "goodput"}),
    "a checkpoint every day": (put("failures", interval_s=86_400), {"interval", "goodput"}),
    "a goodput of 1": (put("failures", goodput=1.0), {"goodput"}),
    "watt-hours": (times("cost", "mwh", 1e6), {"cost"}),
    "money without the spread of the price": (put("cost", dollars=[110_000, 110_000]), {"cost"}),
    "hours of one GPU": (times("cost", "gpu_hours", 1 / 256), {"cost"}),
    "a price in the wrong order": (put("cost", price=[3.5, 2.0]), {"cost"}),
    "a number without a source": (put("sources", price=""), {"sources"}),
    "a source that is a shrug": (put("sources", write_s="assumed: why"), {"sources"}),
    "a puzzle that is not there": (put("sources", step_s="puzzle dreams"), {"sources"}),
    "all of it assumed": (
        lambda plan: plan.update(sources=dict.fromkeys(SOURCED, "assumed: it will be so")),
        {"sources"},
    ),
    "two risks": (lambda plan: plan["risks"].pop(), {"risks"}),
    "one risk three times": (lambda plan: plan.update(risks=plan["risks"][:1] * 3), {"risks"}),
    "a risk without an answer": (lambda plan: plan["risks"][0].pop("answer"), {"risks"}),
    "a risk that says one thing three times": (
        lambda plan: plan["risks"][0].update(dict.fromkeys(("what", "sign", "answer"), "it fails")),
        {"risks"},
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_and_nothing_else(name: str) -> None:
    change, wanted = FAULTS[name]
    grade = changed(change)
    assert unmet(grade) == wanted, repr(grade)


def test_the_layout_that_llama_3_was_trained_with_is_not_called_slow() -> None:
    """405B on 16,384 H100: TP 8, PP 16 with several chunks of a stage, DP 128."""
    plan = sound()
    plan["model"] |= {"layers": 126, "hidden": 16_384, "heads": 128, "mlp": 53_248}
    plan["cluster"]["gpus"], plan["batch"]["sequences"] = 16_384, 2048
    plan["layout"] = {
        "dp": 128, "tp": 8, "pp": 16, "zero": 2, "schedule": "interleaved", "chunks": 7,
    }  # fmt: skip
    assert unmet(grade_of(plan)).isdisjoint({"legal", "fast"})
    plan["layout"] |= {"schedule": "1f1b", "chunks": 1}
    assert "fast" in unmet(grade_of(plan))


def test_every_criterion_has_a_fault_that_fails_it() -> None:
    found = set().union(*(unmet(changed(change)) for change, _ in FAULTS.values()))
    big = changed(put("model", layers=400))
    assert "fits" in unmet(big)
    assert next(e for e in big.findings if e.key == "fits").met is False
    assert found == {key for key, *_ in CRITERIA}


def test_a_criterion_that_is_not_met_says_no_number_of_the_planners() -> None:
    """Whoever is far off is told the side, and looks for what was left out."""
    grade = changed(lambda plan: plan["run"].update(memory_gib=20.0, step_s=9.0))
    read = capstone.Read(sound())
    found = {each.key: each for each in grade.findings}
    for key, value in (("memory", read.memory.bytes / 2**30), ("step", read.step_s)):
        said = found[key].fact + found[key].advice
        assert "less" in said or "more" in said
        assert f"{value:.1f}" not in said and f"{value:.3g}" not in said


OTHERS: dict[str, Change] = {
    "what follows cut off, and a tuple for a list": lambda plan: plan["cost"].update(
        gpu_hours=plan["cost"]["gpu_hours"] // 1000 * 1000,
        dollars=tuple(each // 5000 * 5000 for each in plan["cost"]["dollars"]),
        mwh=round(plan["cost"]["mwh"]),
    ),
    "one price": lambda plan: plan["cost"].update(price=2, dollars=plan["cost"]["dollars"][0]),
    "an interval that is half as long again": lambda plan: plan["failures"].update(
        interval_s=1.5 * plan["failures"]["interval_s"]
    ),
    "ZeRO-2": lambda plan: (plan["layout"].update(zero=2), plan["run"].update(memory_gib=70)),
    "more risks": lambda plan: plan["risks"].append("and others"),
    "a title of nothing": lambda plan: plan.update(title=None),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_plan_that_is_unlike_ours_and_sound_passes(name: str) -> None:
    grade = changed(OTHERS[name])
    assert grade.passed, repr(grade)


ODD = (
    None,
    True,
    "12",
    -1,
    0,
    1e308,
    math.nan,
    math.inf,
    [],
    {},
    [1, 2],
    {"a": 1},
    object(),
    10**9,
)


@pytest.mark.parametrize("part", [*PARTS, "risks", "sources", "title"])
def test_no_value_breaks_the_grading_or_counts_as_said(part: str) -> None:
    whole = grade_of(sound()).points
    plan = sound()
    for odd in ODD:
        plan[part] = odd
        grade = grade_of(plan)
        assert grade.points < whole or part == "title"
        assert repr(grade)
    plan = sound()
    for name in dict(plan[part]) if isinstance(plan[part], dict) else ():
        right = plan[part][name]
        for odd in ODD:
            plan[part][name] = copy.copy(odd)
            assert repr(grade_of(plan))
        plan[part][name] = right


@pytest.mark.parametrize("part", PARTS)
def test_a_name_that_no_plan_has_is_told_and_nothing_is_left_out_in_silence(part: str) -> None:
    grade = changed(lambda plan: plan[part].update(spelt_wrong=1))
    assert "spelt_wrong" in repr(grade)
    assert not grade.passed


def test_each_number_of_a_plan_matters() -> None:
    """One at a time is left out: some criterion waits for it, or the layout is another one."""
    for part in ("run", "failures", "cost", "batch", "cluster"):
        for name in PARTS[part]:
            grade = changed(lambda plan, part=part, name=name: plan[part].pop(name))
            assert unmet(grade), (part, name)


def test_a_text_of_a_grade_fits_its_columns() -> None:
    for change, _ in FAULTS.values():
        assert all(len(line) <= WIDTH for line in repr(changed(change)).splitlines())
    assert len(rubric().splitlines()) == len(CRITERIA)


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("https://a.org/x", "address"),
        ("see arXiv 2407.21783", "paper"),
        ("arxiv:2205.05198, Table 5", "paper"),
        ("puzzle diloco", "puzzle"),
        ("lesson 33", "lesson"),
        ("lesson 99", ""),
        ("measured: three runs of ten steps", "measured"),
        ("measured: yes", ""),
        ("trust me", ""),
        ("https://", ""),
        (None, ""),
        (7, ""),
    ],
)
def test_kinds_of_sources(source: Any, kind: str) -> None:
    assert source_kind(source) == kind


def test_a_plan_that_is_no_dict_is_said_in_a_note() -> None:
    with pytest.raises(CourseError, match="a dict"):
        grade_of([])  # type: ignore[arg-type]
    assert isinstance(graded("plan"), Note)  # type: ignore[arg-type]
    for mine in (7, None, [1]):
        for read in (graded, page_of, lambda plan: exported(plan, "my_plan.html")):
            assert "begin with draft()" in repr(read(mine))  # type: ignore[arg-type]
        # Their results are taken apart: the cell ends, and says the same.
        for read in (grade_of, planned):
            with pytest.raises(CourseError, match=re.escape(f"a plan is {mine!r}")):
                read(mine)  # type: ignore[arg-type]
    assert not Path("my_plan.html").exists()


# The page


class Outline(html.parser.HTMLParser):
    """What of a page is open, and where it leads."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)
        self.links += [str(value) for name, value in attrs if name in ("href", "src")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "script"):
            self.text += data


def outline(file: Path) -> Outline:
    found = Outline()
    found.feed(file.read_text(encoding="utf-8"))
    assert found.open == []
    return found


def test_a_page_stands_alone_and_gives_its_plan_back(tmp_path: Path) -> None:
    plan = sound()
    file = exported(plan, tmp_path / "plan.html")
    assert isinstance(file, Path)
    found = outline(file)
    assert all(link.startswith("https://") and not link.endswith(",") for link in found.links)
    assert found.seen.count("script") == 1 and "link" not in found.seen and "img" not in found.seen
    for words in ("100 of 100 points", "a bit flips in silence", "GPU-hours", "arXiv 2407.21783"):
        assert words in found.text
    assert plan_in(file) == plan == json.loads(json.dumps(plan))
    assert grade_of(plan_in(file)).passed


def test_a_page_rounds_what_a_plan_has_to_the_last_digit(tmp_path: Path) -> None:
    plan = sound()
    plan["run"]["days"], plan["run"]["step_s"] = 6.653719, 0.2999464
    plan["failures"]["interval_s"] = 12990.3811
    file = exported(plan, tmp_path / "plan.html")
    assert isinstance(file, Path)
    text = outline(file).text
    assert "6.654" in text and "0.2999" in text and "12,990" in text
    assert "6.6537" not in text and "0.29994" not in text and "12,990.4" not in text
    assert plan_in(file)["run"]["days"] == 6.653719


def test_what_a_plan_says_stays_text_on_its_page(tmp_path: Path) -> None:
    plan = sound()
    evil = '</script><script>alert(1)</script><img src=x onerror="alert(2)">'
    plan["title"] = plan["sources"]["price"] = plan["sources"][evil] = evil
    plan["model"]["norm"] = plan["risks"][0]["what"] = evil
    plan["layout"][evil] = evil
    file = exported(plan, tmp_path / "plan.html")
    assert isinstance(file, Path)
    found = outline(file)
    assert found.seen.count("script") == 1 and "img" not in found.seen
    assert plan_in(file) == plan


def test_a_page_of_a_draft_says_what_is_not_said(tmp_path: Path) -> None:
    file = exported(draft(), tmp_path / "plan.html")
    assert isinstance(file, Path)
    assert outline(file).text.count("not said") >= 10


def test_a_page_replaces_itself_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "plan.html"
    exported(draft(), file)
    exported(sound(), file)
    assert plan_in(file) == sound()
    own = tmp_path / "notes.html"
    own.write_text("my notes", encoding="utf-8")
    assert isinstance(exported(sound(), own), Note)
    assert own.read_text(encoding="utf-8") == "my notes"
    with pytest.raises(CourseError, match="no page of a plan"):
        plan_in(own)
    with pytest.raises(CourseError, match="no page of a plan"):
        plan_in(tmp_path / "nowhere.html")
    assert isinstance(exported(sound() | {"title": {1, 2}}, tmp_path / "set.html"), Note)
    assert not (tmp_path / "set.html").exists()


# As a program


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{name}" = {_toml(each)}' for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


def test_a_plan_in_a_file_is_graded_by_a_program(tmp_path: Path) -> None:
    plans = {"good": sound(), "bad": sound() | {"risks": []}}
    for name, plan in plans.items():
        lines = [f"{key} = {_toml(value)}" for key, value in plan.items()]
        (tmp_path / f"{name}.toml").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "broken.toml").write_text("title = ", encoding="utf-8")
    ends = []
    for name in ("good", "bad", "broken", "nowhere"):
        page = tmp_path / f"{name}.html"
        ends.append(capstone.main([str(tmp_path / f"{name}.toml"), str(page)]))
        assert page.exists() is (name in plans)
    assert ends == [0, 1, 2, 2]
    assert capstone.main([]) == 2


def test_the_module_runs(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text('title = "nothing yet"', encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "gpu_course.lessons.across_oceans.capstone", str(file)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 1 and "0 of 100 points" in run.stdout, run.stderr
    assert RISKS == 3
