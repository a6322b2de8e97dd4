"""A plan as the options of Megatron-LM, torchtitan and nanotron.

Each option was looked up in the framework's source at the commit in FRAMEWORKS. A framework has its
own words for what it cannot do: a plan that it has no options for raises CourseError, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.planner.layout import Batch, Layout, stage_layers


@dataclass(frozen=True)
class Framework:
    """A framework whose options were looked up.

    Attributes:
        url: of the file in which they stand.
        commit: at which they do.
        options: the names that an export may use.
    """

    url: str
    commit: str
    options: frozenset[str]


FRAMEWORKS = {
    "Megatron-LM": Framework(
        "https://github.com/NVIDIA/Megatron-LM/blob/{}/megatron/training/arguments.py",
        "d98e8a64ddf34856e74b24714e3bedb2f5a39553",
        frozenset(
            """tensor-model-parallel-size pipeline-model-parallel-size context-parallel-size
            expert-model-parallel-size sequence-parallel use-distributed-optimizer
            use-megatron-fsdp data-parallel-sharding-strategy recompute-granularity
            recompute-method recompute-num-layers num-virtual-stages-per-pipeline-rank
            micro-batch-size global-batch-size train-iters seq-length max-position-embeddings
            num-layers hidden-size num-attention-heads group-query-attention num-query-groups
            kv-channels ffn-hidden-size swiglu normalization num-experts moe-ffn-hidden-size
            moe-router-topk untie-embeddings-and-output-weights bf16
            accumulate-allreduce-grads-in-fp32""".split()
        ),
    ),
    "torchtitan": Framework(
        "https://github.com/pytorch/torchtitan/blob/{}/torchtitan/config/configs.py",
        "b5bcd76c66d0acb1a08b176d9639425bc55e0b2a",
        frozenset(
            """parallelism.data_parallel_shard_degree parallelism.data_parallel_replicate_degree
            parallelism.fsdp_reshard_after_forward parallelism.tensor_parallel_degree
            parallelism.enable_sequence_parallel parallelism.pipeline_parallel_degree
            parallelism.pipeline_parallel_schedule parallelism.num_pp_microbatches
            parallelism.context_parallel_degree parallelism.expert_parallel_degree
            training.num_tokens_per_microbatch_per_dp_rank training.num_tokens_per_train_step
            training.max_context_length training.steps activation_checkpoint""".split()
        ),
    ),
    "nanotron": Framework(
        "https://github.com/huggingface/nanotron/blob/{}/src/nanotron/config/config.py",
        "2411b022a75fb7f7561a1bb4166706da5e1b76de",
        frozenset(
            """parallelism.dp parallelism.pp parallelism.tp parallelism.tp_mode
            parallelism.pp_engine parallelism.recompute_layer parallelism.expert_parallel_size
            parallelism.context_parallel_size tokens.sequence_length tokens.train_steps
            tokens.micro_batch_size tokens.batch_accumulation_per_replica optimizer.zero_stage
            optimizer.accumulate_grad_in_fp32 model.model_config.hidden_size
            model.model_config.intermediate_size model.model_config.num_attention_heads
            model.model_config.num_hidden_layers model.model_config.num_key_value_heads
            model.model_config.tie_word_embeddings model.model_config.vocab_size
            model.model_config.max_position_embeddings""".split()
        ),
    ),
}
Options = dict[str, Any]
"""Option -> value; True stands for a flag of Megatron-LM that has none."""


def options(
    framework: str, model: Transformer, layout: Layout, batch: Batch, steps: int
) -> Options:
    """Returns a plan as a framework's options.

    Args:
        framework: a key of FRAMEWORKS.
        model, layout, batch: the plan.
        steps: of the run.

    Raises:
        CourseError: no such framework, or it has no options for this plan.
    """
    made = {"Megatron-LM": _megatron, "torchtitan": _torchtitan, "nanotron": _nanotron}
    if framework not in made:
        raise CourseError(f"no framework is called {framework!r}", f"choose {', '.join(made)}")
    return made[framework](model, layout, batch, steps)


def export(framework: str, model: Transformer, layout: Layout, batch: Batch, steps: int) -> str:
    """Returns the same as it is written: arguments, a line of Python each, or YAML.

    Args:
        framework, model, layout, batch, steps: as for `options`.
    """
    found = options(framework, model, layout, batch, steps)
    if framework == "Megatron-LM":
        written = [f"--{name}" + ("" if v is True else f" {v}") for name, v in found.items()]
        return " \\\n".join(written)
    if framework == "torchtitan":
        return "\n".join(f"config.{name} = {_python(value)}" for name, value in found.items())
    return _yaml(found)


def _megatron(model: Transformer, layout: Layout, batch: Batch, steps: int) -> Options:
    found: Options = {
        "tensor-model-parallel-size": layout.tp,
        "pipeline-model-parallel-size": layout.pp,
        "context-parallel-size": layout.cp,
        "micro-batch-size": layout.microbatch,
        "global-batch-size": batch.sequences,
        "train-iters": steps,
        "seq-length": batch.tokens,
        "max-position-embeddings": batch.tokens,
        "bf16": True,
    }
    if layout.ep > 1:
        found["expert-model-parallel-size"] = layout.ep
    if layout.sequence_parallel and layout.tp > 1:
        found["sequence-parallel"] = True
    if layout.zero == 1:
        found["use-distributed-optimizer"] = True
    elif layout.zero > 1:
        found |= {"use-distributed-optimizer": True, "use-megatron-fsdp": True}
        ways = {2: "optim_grads", 3: "optim_grads_params"}
        found["data-parallel-sharding-strategy"] = ways[layout.zero]
    if layout.recompute == "plan":
        found |= {"recompute-granularity": "full", "recompute-method": "block"}
        found["recompute-num-layers"] = layout.recomputed_layers
    elif layout.recompute == "full":
        found |= {"recompute-granularity": "full", "recompute-method": "uniform"}
        found["recompute-num-layers"] = 1
    elif layout.recompute == "selective":
        found["recompute-granularity"] = "selective"
    if layout.schedule == "interleaved":
        found["num-virtual-stages-per-pipeline-rank"] = layout.chunks
    elif layout.schedule != "1f1b":
        raise CourseError(
            f"Megatron-LM has no option for {layout.schedule}", "plan with 1f1b or interleaved"
        )
    counts = stage_layers(model, layout.pp, layout.split)
    if len(set(counts)) > 1:
        raise CourseError(
            f"stages of {', '.join(map(str, sorted(set(counts))))} layers are unlike, and the plain"
            " options of Megatron-LM cut evenly",
            f"take pp that divides {model.layers} layers, or write a --pipeline-model-parallel-"
            "layout by hand",
        )
    found |= {
        "num-layers": model.layers,
        "hidden-size": model.hidden,
        "num-attention-heads": model.heads,
        "ffn-hidden-size": model.inside,
    }
    if model.head_size:
        found["kv-channels"] = model.head_size
    if model.kv_heads and model.kv_heads != model.heads:
        found |= {"group-query-attention": True, "num-query-groups": model.kv_heads}
    if model.gated:
        found["swiglu"] = True
    if model.norm == "rms":
        found["normalization"] = "RMSNorm"
    if model.experts:
        found |= {"num-experts": model.experts, "moe-router-topk": model.top_k}
        found["moe-ffn-hidden-size"] = model.inside
    if not model.tied:
        found["untie-embeddings-and-output-weights"] = True
    if _sums_in_float32(layout):
        found["accumulate-allreduce-grads-in-fp32"] = True
    return found


def _sums_in_float32(layout: Layout) -> bool:
    return bool(layout.recipe.accumulator or layout.recipe.gradient == 4)


TITAN_SCHEDULES = {
    "1f1b": "1F1B", "gpipe": "GPipe", "interleaved": "Interleaved1F1B",
}  # fmt: skip


def _torchtitan(model: Transformer, layout: Layout, batch: Batch, steps: int) -> Options:
    if layout.zero == 1:
        raise CourseError(
            "torchtitan has no ZeRO 1: it shards parameters, or it copies all",
            "plan with ZeRO 0, 2 or 3",
        )
    if layout.schedule not in TITAN_SCHEDULES:
        raise CourseError(
            f"PyTorch has no schedule that is called {layout.schedule}",
            f"plan with {', '.join(TITAN_SCHEDULES)}",
        )
    if layout.recompute == "plan":
        raise CourseError(
            "torchtitan has no option for so many whole layers of each stage",
            "plan with none, selective or full",
        )
    sharded = layout.zero > 1
    found: Options = {
        "parallelism.data_parallel_shard_degree": layout.dp if sharded else 1,
        "parallelism.data_parallel_replicate_degree": 1 if sharded else layout.dp,
        "parallelism.tensor_parallel_degree": layout.tp,
        "parallelism.enable_sequence_parallel": layout.sequence_parallel,
        "parallelism.pipeline_parallel_degree": layout.pp,
        "parallelism.context_parallel_degree": layout.cp,
        "parallelism.expert_parallel_degree": layout.ep,
    }
    if sharded:
        found["parallelism.fsdp_reshard_after_forward"] = "always" if layout.zero == 3 else "never"
    if layout.pp > 1:
        found["parallelism.pipeline_parallel_schedule"] = TITAN_SCHEDULES[layout.schedule]
        found["parallelism.num_pp_microbatches"] = layout.microbatches(batch)
    found |= {
        "training.max_context_length": batch.tokens,
        "training.num_tokens_per_microbatch_per_dp_rank": layout.microbatch * batch.tokens,
        "training.num_tokens_per_train_step": batch.sequences * batch.tokens,
        "training.steps": steps,
    }
    if layout.recompute != "none":
        found["activation_checkpoint"] = f"{layout.recompute.capitalize()}AC.Config()"
    return found


def _nanotron(model: Transformer, layout: Layout, batch: Batch, steps: int) -> Options:
    if model.experts:
        raise CourseError(
            "nanotron writes a model with experts as another config",
            "write a Qwen2Config with moe_config by hand",
        )
    if layout.zero > 1:
        raise CourseError("nanotron has ZeRO 0 and 1 alone", "plan with one of them")
    if layout.schedule not in ("1f1b", "gpipe"):
        raise CourseError(f"nanotron has no {layout.schedule}", "plan with 1f1b or gpipe")
    if layout.recompute in ("selective", "plan"):
        raise CourseError("nanotron recomputes whole layers or nothing", "plan with none or full")
    return {
        "parallelism.dp": layout.dp,
        "parallelism.pp": layout.pp,
        "parallelism.tp": layout.tp,
        "parallelism.context_parallel_size": layout.cp,
        "parallelism.tp_mode": "REDUCE_SCATTER" if layout.sequence_parallel else "ALL_REDUCE",
        "parallelism.pp_engine": "1f1b" if layout.schedule == "1f1b" else "afab",
        "parallelism.recompute_layer": layout.recompute == "full",
        "tokens.sequence_length": batch.tokens,
        "tokens.micro_batch_size": layout.microbatch,
        "tokens.batch_accumulation_per_replica": layout.microbatches(batch),
        "tokens.train_steps": steps,
        "optimizer.zero_stage": layout.zero,
        "optimizer.accumulate_grad_in_fp32": _sums_in_float32(layout),
        "model.model_config.num_hidden_layers": model.layers,
        "model.model_config.hidden_size": model.hidden,
        "model.model_config.intermediate_size": model.inside,
        "model.model_config.num_attention_heads": model.heads,
        "model.model_config.num_key_value_heads": model.kv_heads or model.heads,
        "model.model_config.vocab_size": model.vocabulary,
        "model.model_config.tie_word_embeddings": model.tied,
        "model.model_config.max_position_embeddings": batch.tokens,
    }


def _python(value: Any) -> str:
    code = isinstance(value, str) and value.endswith("()")
    return str(value) if code or not isinstance(value, str) else f'"{value}"'


def _yaml(found: Options) -> str:
    lines: list[str] = []
    open_now: tuple[str, ...] = ()
    for name, value in found.items():
        *parts, last = name.split(".")
        for depth, part in enumerate(parts):
            if open_now[: depth + 1] != tuple(parts[: depth + 1]):
                lines.append("  " * depth + f"{part}:")
        open_now = tuple(parts)
        said = str(value).lower() if isinstance(value, bool) else value
        lines.append("  " * len(parts) + f"{last}: {said}")
    return "\n".join(lines)
