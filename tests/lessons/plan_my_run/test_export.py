"""A plan as options: only names that were looked up, each number where it belongs."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from gpu_course.errors import CourseError
from gpu_course.lessons.plan_my_run.export import FRAMEWORKS, export, options
from gpu_course.lessons.plan_my_run.plans import MODELS
from gpu_course.lessons.plan_my_run.shows import exported
from gpu_course.measure.state_formulas import MEGATRON_ADAM
from gpu_course.planner.layout import Batch, Layout

LLAMA = MODELS["Llama 3 70B"]
BATCH = Batch(1024, 8192)
LAYOUTS = {
    "Megatron-LM": Layout(
        dp=16, tp=8, pp=4, cp=2, zero=1, microbatch=2, schedule="interleaved", chunks=4,
        recipe=MEGATRON_ADAM,
    ),
    "torchtitan": Layout(dp=16, tp=8, pp=4, cp=2, zero=3, microbatch=2, recompute="full"),
    "nanotron": Layout(
        dp=16, tp=8, pp=4, cp=2, zero=1, microbatch=2, recompute="full", recipe=MEGATRON_ADAM
    ),
}  # fmt: skip


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_every_option_was_looked_up_at_a_commit(framework: str) -> None:
    made = FRAMEWORKS[framework]
    assert len(made.commit) == 40 and "{}" in made.url
    given = [
        LAYOUTS[framework],
        replace(LAYOUTS[framework], pp=1, dp=64, chunks=1, schedule="1f1b", recompute="none"),
        replace(LAYOUTS[framework], pp=1, dp=64, chunks=1, schedule="1f1b", tp=1, zero=0),
    ]
    for layout in given:
        for model in MODELS.values():
            try:
                found = options(framework, model, layout, BATCH, 100)
            except CourseError:
                continue
            assert set(found) <= made.options


def test_numbers_stand_under_their_names() -> None:
    megatron = options("Megatron-LM", LLAMA, LAYOUTS["Megatron-LM"], BATCH, 100)
    assert (megatron["tensor-model-parallel-size"], megatron["context-parallel-size"]) == (8, 2)
    assert megatron["global-batch-size"] == 1024 and megatron["micro-batch-size"] == 2
    assert megatron["num-virtual-stages-per-pipeline-rank"] == 4
    assert megatron["use-distributed-optimizer"] and megatron["num-query-groups"] == 8
    titan = options("torchtitan", LLAMA, LAYOUTS["torchtitan"], BATCH, 100)
    assert titan["parallelism.data_parallel_shard_degree"] == 16
    assert titan["parallelism.num_pp_microbatches"] == 1024 // 16 // 2
    assert titan["training.num_tokens_per_train_step"] == 1024 * 8192
    nano = options("nanotron", LLAMA, LAYOUTS["nanotron"], BATCH, 100)
    accumulation = nano["tokens.batch_accumulation_per_replica"]
    assert nano["parallelism.dp"] * nano["tokens.micro_batch_size"] * accumulation == 1024
    assert nano["optimizer.accumulate_grad_in_fp32"] is True


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_gpus_of_an_export_are_those_of_the_plan(framework: str) -> None:
    layout = LAYOUTS[framework]
    found = options(framework, LLAMA, layout, BATCH, 100)
    if framework == "Megatron-LM":
        # Megatron-LM takes what is left of the world for data parallelism.
        axes = ("tensor-model", "pipeline-model", "context")
        assert layout.gpus // math.prod(found[f"{axis}-parallel-size"] for axis in axes) == 16
    elif framework == "torchtitan":
        degrees = [value for name, value in found.items() if name.endswith("_degree")]
        assert math.prod(degrees) == layout.gpus
    else:
        names = ("dp", "pp", "tp", "context_parallel_size")
        assert math.prod(found[f"parallelism.{name}"] for name in names) == layout.gpus


@pytest.mark.parametrize(
    ("framework", "changes", "words"),
    [
        ("nanotron", {"zero": 3}, "nanotron has ZeRO 0 and 1 alone"),
        ("nanotron", {"recompute": "selective"}, "recomputes whole layers or nothing"),
        ("nanotron", {"schedule": "zb-h1"}, "nanotron has no zb-h1"),
        ("torchtitan", {"zero": 1}, "torchtitan has no ZeRO 1"),
        ("torchtitan", {"recompute": "plan", "recomputed_layers": 2}, "so many whole layers"),
        ("torchtitan", {"schedule": "zb-h2"}, "no schedule that is called zb-h2"),
        ("Megatron-LM", {"schedule": "gpipe", "chunks": 1}, "no option for gpipe"),
        ("Megatron-LM", {"pp": 32, "dp": 2, "chunks": 1, "schedule": "1f1b"}, "layers are unlike"),
        ("JAX", {}, "no framework is called 'JAX'"),
    ],
)
def test_what_a_framework_cannot_do_is_said(
    framework: str, changes: dict[str, object], words: str
) -> None:
    layout = replace(LAYOUTS.get(framework, LAYOUTS["nanotron"]), **changes)  # type: ignore[arg-type]  # plain values
    with pytest.raises(CourseError, match=words) as caught:
        options(framework, LLAMA, layout, BATCH, 100)
    assert "try:" in str(caught.value)


def test_experts_are_a_config_of_their_own_in_nanotron() -> None:
    with pytest.raises(CourseError, match="Qwen2Config"):
        options("nanotron", MODELS["Mixtral 8x7B"], LAYOUTS["nanotron"], BATCH, 100)
    found = options("Megatron-LM", MODELS["Mixtral 8x7B"], Layout(dp=64, ep=8, zero=1), BATCH, 100)
    assert (found["num-experts"], found["expert-model-parallel-size"]) == (8, 8)


def test_it_is_written_as_the_framework_reads_it() -> None:
    arguments = export("Megatron-LM", LLAMA, LAYOUTS["Megatron-LM"], BATCH, 100)
    assert "--tensor-model-parallel-size 8 \\\n" in arguments
    assert "--bf16 \\\n" in arguments
    lines = export("torchtitan", LLAMA, LAYOUTS["torchtitan"], BATCH, 100).splitlines()
    assert "config.activation_checkpoint = FullAC.Config()" in lines
    assert 'config.parallelism.pipeline_parallel_schedule = "1F1B"' in lines
    yaml = export("nanotron", LLAMA, LAYOUTS["nanotron"], BATCH, 100)
    assert "parallelism:\n  dp: 16\n" in yaml
    assert "model:\n  model_config:\n    num_hidden_layers: 80\n" in yaml
    assert yaml.count("model_config:") == 1


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_best_plan_that_a_framework_can_do_is_exported_with_its_commit(framework: str) -> None:
    said = exported(framework)
    assert f"# {framework} at {FRAMEWORKS[framework].commit[:10]}" in said
    assert exported(framework, place=2) != said
