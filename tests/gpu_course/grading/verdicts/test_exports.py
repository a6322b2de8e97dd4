"""What leaves the grader: JSON with the agreed keys, table rows, HTML that hides nothing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gpu_course.grading import check, grade
from gpu_course.grading.verdicts.exports import (
    to_json,
    verdict_html,
    verdict_table_rows,
    verdict_text,
)
from gpu_course.grading.verdicts.facts import REASONS, STATUSES
from gpu_course.grading.verdicts.sections import INDENT, below, fact, section
from gpu_course.grading.verdicts.verdict import Verdict
from tests.gpu_course.grading import toy

KEYS = [
    "name",
    "status",
    "reason",
    "points",
    "max_points",
    "message",
    "hazards",
    "counters",
    "seconds",
]  # fmt: skip


@pytest.fixture
def failed(file: Path) -> Verdict:
    """A verdict with a hazard, counters and a report."""
    file.write_text(toy.answer("i = cuda.grid(1)", "out[i] = a[i] + 10"))
    return check("plus_ten")


def test_json_has_exactly_the_agreed_keys(answers: Path, failed: Verdict) -> None:
    text = json.dumps(to_json(grade()), allow_nan=False)
    document = json.loads(text)
    assert list(document) == ["puzzles"]
    for record in document["puzzles"]:
        assert list(record) == KEYS
        assert record["status"] in STATUSES and record["reason"] in REASONS
        assert record["name"].startswith("90_toys/")
    first, second = document["puzzles"][:2]
    assert first["counters"]["global_store"]["requests"] == 3
    assert second["counters"] is None and second["hazards"] == []


def test_a_hazard_in_json(failed: Verdict) -> None:
    hazard = to_json([failed])["puzzles"][0]["hazards"][0]
    assert list(hazard) == ["kind", "severity", "message", "file", "line", "threads", "text"]
    assert (hazard["kind"], hazard["severity"], hazard["line"]) == ("out-of-bounds", "error", 7)
    assert hazard["file"] == "puzzles/90_toys/plus_ten.py"
    assert hazard["threads"] == [[[2, 0, 0], [2, 0, 0]], [[2, 0, 0], [3, 0, 0]]]
    assert hazard["text"].splitlines()[0] in failed.message


def test_json_of_a_nan_result_is_json(file: Path) -> None:
    file.write_text(toy.guarded("out[i] += 1"))
    assert "nan" in json.dumps(to_json([check("plus_ten")]), allow_nan=False)


def test_table_rows(failed: Verdict, answers: Path) -> None:
    rows = verdict_table_rows([failed, check("pair")])
    assert rows[0][:3] == ("90_toys/plus_ten", "failed (hazard)", "0/10")
    assert rows[0][3].startswith("OutOfBoundsError: a[10] is outside")
    assert rows[1][1:] == ("not-started", "0/10", "there is no puzzles/90_toys/pair.py")
    whole = "a fact that is longer than a line of a verdict, and stands in its row to the end of it"
    assert verdict_table_rows([replace(failed, sections=tuple(fact(whole)))])[0][3] == whole


class Seen(HTMLParser):
    """Collects the text, the tags and the alt texts of a piece of HTML."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text, self.tags, self.alts = "", [], []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "img":
            self.alts.append(dict(attrs).get("alt"))
        elif tag != "wbr":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_holds_the_message_and_a_picture_with_alt_text(failed: Verdict) -> None:
    seen = Seen(verdict_html(failed))
    assert failed.message.split() == seen.text.partition("not yet")[2].split()
    assert "90_toys/plus_ten: not yet" in seen.text
    assert seen.open == []
    assert len(seen.alts) == 1 and len(seen.alts[0] or "") > 20
    assert failed._repr_html_() == verdict_html(failed)


def test_the_picture_stands_behind_the_reason_and_before_the_numbers(failed: Verdict) -> None:
    page = verdict_html(failed)
    reason, numbers = (page.index(f"{label}: ") for label in ("why", "case"))
    assert reason < page.index("<img") < numbers


def test_prose_breaks_where_the_window_does_and_cells_stay_in_their_lines() -> None:
    said = (
        *fact("what is wrong"),
        *section("why", "one sentence, " * 9 + "and its end"),
        *section("cells", "index  0", "out    7", " ^"),
        *section("where", "kernel k, k.py:3", "out[i] = a"),
        *section("try", "a step"),
    )
    page = verdict_html(Verdict("90_toys/plus_ten", "failed", "wrong-result", 0, 10, said))
    assert "why:    " + "one sentence, " * 9 + "and its end\n</span>" in page
    for line in ("what is wrong", "cells:  index  0", "out    7", " ^", "kernel k, k.py:3"):
        assert f"{line}\n</span>" in page
    assert "out[i] = a\n</span>" in page and "  try:    a step\n</span>" in page


def test_html_needs_nothing_from_outside_and_runs_nothing(file: Path) -> None:
    file.write_text(toy.HEAD + "    <script>alert(1)</script>\n")
    page = verdict_html(check("plus_ten"))
    assert "script" not in Seen(page).tags
    assert "&lt;script&gt;" in page
    assert not re.search(r"(src|href)=[\"']?(?!data:)", page)


@pytest.mark.parametrize("status", STATUSES)
def test_each_status_has_a_sign_and_a_word_beside_its_colour(status: str) -> None:
    seen = Seen(
        verdict_html(Verdict("90_toys/plus_ten", status, None, 0, 10, tuple(fact("words"))))
    )
    assert re.match(r"\S 90_toys/plus_ten: \w+", seen.text)


def test_a_picture_that_cannot_be_drawn_does_not_hide_the_verdict(
    failed: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no font")

    monkeypatch.setattr("gpu_course.draw.touches.picture.draw_touches", broken)
    seen = Seen(verdict_html(failed))
    assert failed.message.split() == seen.text.partition("not yet")[2].split()
    assert seen.alts == []


def test_the_text_form_names_puzzle_and_status(failed: Verdict) -> None:
    assert repr(failed).startswith("90_toys/plus_ten: failed\nOutOfBoundsError: a[10]")


def test_the_text_form_is_wrapped_below_its_labels(failed: Verdict) -> None:
    said = (*fact("a fact"), *section("why", "word " * 40), *below("  7  8"))
    long = replace(failed, sections=said)
    lines = verdict_text(long, width=60).splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[2].startswith("  why:    word word")
    assert lines[3].startswith(" " * INDENT + "word")
    assert lines[-1] == " " * 12 + "7  8"
    assert " ".join(verdict_text(long, width=60).split()) == " ".join(
        f"{long.name}: failed {long.message}".split()
    )
