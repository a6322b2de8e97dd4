"""Tables of lesson 11, the data it copied, and a run of this machine."""

from __future__ import annotations

from gpu_course.lessons.counting.answers import in_billions, near_ratio
from gpu_course.lessons.counting.configs import GPT2_124M, LITGPT, NEOX_20B
from gpu_course.lessons.counting.foundry import FILE, runs
from gpu_course.lessons.counting.shows import (
    CARDS,
    count_table,
    over_six_n,
    picked,
    tried_text,
    utilisation_of,
)
from gpu_course.lessons.counting.this_cpu import Tried, try_training
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.notebook.note import Note


def test_the_copied_table_says_whose_it_is() -> None:
    head = FILE.read_text(encoding="utf-8")[:600]
    for words in ("mosaicml/llm-foundry", "8c8dd48f72168c5d51e2f7b151595892a8fba43d", "Apache"):
        assert words in head


def test_counts_that_everybody_knows() -> None:
    assert GPT2_124M.parameters == 124_439_808
    assert NEOX_20B.parameters == 20_554_567_680
    assert LITGPT["Llama 3.1 8B"].parameters == 8_030_261_248
    assert LITGPT["Mixtral 8x7B"].active == 12_879_925_248


def test_the_table_of_counts_has_a_line_for_each_model() -> None:
    lines = count_table().splitlines()
    assert len(lines) == 9 and max(map(len, lines)) <= 70
    assert lines[-1].split() == [
        "Mixtral",
        "8x7B",
        "46,702,792,704",
        "12,879,925,248",
        "32",
        "8",
        "own",
    ]


def test_a_run_that_nobody_printed_is_told_in_a_sentence() -> None:
    models = sorted({run.model for run in runs() if run.gpus == 8})
    shown = {(model, card): utilisation_of(model, card) for model in models for card in CARDS}
    missing = [pair for pair, seen in shown.items() if isinstance(seen, Note)]
    assert missing == [pair for pair in shown if not picked(*pair)]
    assert ("30b", "A100 40 GB") in missing and ("30b", "H100") not in missing
    said = shown["30b", "A100 40 GB"].text
    assert "no run of MPT 30b on 8 A100 40 GB" in said and "choose H100" in said


def test_answers_are_choices() -> None:
    assert in_billions(46_702_792_704) == 47
    assert near_ratio(over_six_n(GPT2_124M, 8192)) == 2.2


def test_a_small_model_trains_on_this_machine_and_has_a_share() -> None:
    tried = try_training(Transformer(1, 16, 2, vocabulary=32), batch=1, sequence=4)
    assert tried.tokens_per_s > 0 and tried.matmul_flop_per_s > 0
    assert tried.mfu == tried.model_flop_per_s / tried.matmul_flop_per_s
    known = Tried(tokens_per_s=1000.0, flop_per_token=10**6, matmul_flop_per_s=4e9)
    lines = tried_text(known).splitlines()
    assert lines[-1].split()[-1] == "25%" and max(map(len, lines)) <= 70
