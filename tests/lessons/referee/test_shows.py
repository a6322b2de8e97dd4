"""What lesson 31 shows: the audit's counts from the file itself, and letters that are kind."""

from __future__ import annotations

import csv
from collections import defaultdict

from gpu_course.claims.published import forecasts, rows
from gpu_course.lessons.referee import audit, shows
from gpu_course.lessons.referee.pictures import Pair, describe_twins
from gpu_course.lessons.referee.printed_tables import TABLES
from gpu_course.planner.playbook import RUNS

LESSON = "31_referee"


def lines() -> list[dict[str, str]]:
    with RUNS.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["mfu_pct"]]


def test_twins_are_counted_as_the_file_has_them() -> None:
    speeds: dict[tuple[str, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in lines():
        key = tuple(row[name] for name in ("model", "nodes", "dp", "pp", "tp", "mbs"))
        speeds[key][row["zero"]].append(float(row["tok_s_gpu"]))
    pairs = [[x for each in of.values() for x in each] for of in speeds.values() if len(of) > 1]
    apart = [max(of) / min(of) for of in pairs]
    found = audit.twins()
    assert len(found) == len(pairs) == 72
    assert sum(pair.times > 2 for pair in found) == sum(each > 2 for each in apart) == 29
    assert round(found[0].times) == 33


def test_the_hidden_setting_shows_in_a_group_of_three() -> None:
    (group,) = (
        each
        for each in audit.same_memory()
        if (each.model, each.tp, each.pp, each.microbatch) == ("1.34B", 8, 1, 16)
    )
    assert sorted(run.peak_gib or 0 for run in group.runs) == [25.7, 38.3, 40.2]
    assert all(each.apart <= group.apart for each in audit.same_memory()[4:])


def test_in_seven_of_26_cells_the_best_is_not_the_fastest() -> None:
    cells = audit.cells()
    assert len(cells) == 26
    losing = [cell for cell in cells if not cell.agree]
    assert len(losing) == 7
    assert all(cell.by_mfu.pp > 1 == cell.by_tokens.pp for cell in losing)
    assert all(cell.by_mfu.shape.tied for cell in losing)


def test_failures_with_room_have_many_stages() -> None:
    found = audit.failed_with_room()
    many = sum(run.pp >= audit.MANY_STAGES for run, _ in found)
    assert 60 <= len(found) <= 90 and many > len(found) / 2
    assert all(run.failed and gib < audit.HALF_A_CARD_GIB for run, gib in found)


def test_labels_are_doubted_where_another_model_fits() -> None:
    found = audit.mislabelled()
    assert len(found) == 6 and {run.model for run in found} == {"80B"}
    assert all(audit.off_label(run) > 1 for run in found)


def test_a_letter_has_what_was_found_and_ends_with_a_question() -> None:
    text = str(shows.letter("what stopped Llama 3"))
    assert "30.1" in text and "35.27 to 35.37" in " ".join(text.split())
    assert "Did I read the table as you meant it?" in text
    assert "no single number" in " ".join(str(shows.letter("one run, printed twice")).split())
    assert str(shows.letter("ten sizes of GPT")).startswith("There is nothing to write")
    assert max(len(line) for name in TABLES for line in str(shows.letter(name)).splitlines()) <= 70


def test_a_table_that_is_not_there_is_named() -> None:
    assert "there is no table 'Llama'" in str(shows.checked("Llama"))


def test_texts_fit_half_a_window() -> None:
    texts = [shows.desk(), shows.memory_groups(), shows.worst_twins(), shows.best_cells()]
    texts += [shows.labels(), shows.failures_text(), *map(shows.checked, TABLES)]
    assert max(len(line) for text in texts for line in str(text).splitlines()) <= 72


def test_the_desk_keeps_what_is_guessed_later() -> None:
    said = str(shows.desk())
    assert [name for name in TABLES if name not in said.splitlines()] == [shows.LATER]
    assert "25.7" not in said, "the answer to a prediction of the audit"


def test_the_picture_says_how_many_are_apart() -> None:
    said = describe_twins((Pair(217, 7139), Pair(100, 110)), 2)
    assert "in 1 one run is over 2 times as fast, at worst 33 times" in said


def test_two_rows_are_outside_and_one_is_measured() -> None:
    shown = rows(LESSON)
    assert [row.what for row in shown if row.holds is False] == [
        "1,024 GPUs", "faulty GPU", "confirmed GPU issues",
    ]  # fmt: skip
    assert len(forecasts(LESSON)) == 2


def test_the_slip_in_the_text_is_the_sum_of_the_printed_shares() -> None:
    printed = TABLES["what stopped Llama 3"].printed
    issues = (
        "faulty GPU", "HBM3", "GPU SRAM", "GPU processor", "silent corruption", "thermal",
    )  # fmt: skip
    assert round(sum(float(printed[f"{name}, %"]) for name in issues), 1) == 58.7
    assert sum(int(printed[name]) for name in issues) == 268
