"""Shapes of models that were published, each as its own source gives it."""

from __future__ import annotations

from typing import Any

from gpu_course.measure.transformer_shapes import Transformer

_GPT: dict[str, Any] = {"tied": True, "qkv_bias": True, "bias": True}
_LLAMA: dict[str, Any] = {"gated": True, "norm": "rms"}

LITGPT = {
    "Pythia 160M": Transformer(12, 768, 12, vocabulary=50304, qkv_bias=True, bias=True),
    "TinyLlama 1.1B": Transformer(22, 2048, 32, 4, mlp=5632, vocabulary=32000, **_LLAMA),
    "Llama 2 7B": Transformer(32, 4096, 32, mlp=11008, vocabulary=32000, **_LLAMA),
    "Llama 3.1 8B": Transformer(32, 4096, 32, 8, mlp=14336, vocabulary=128256, **_LLAMA),
    "Llama 3 70B": Transformer(80, 8192, 64, 8, mlp=28672, vocabulary=128256, **_LLAMA),
    "Gemma 2B": Transformer(
        18, 2048, 8, 1, head_size=256, mlp=16384, vocabulary=256000, tied=True, **_LLAMA
    ),
    "Qwen2.5 0.5B": Transformer(
        24, 896, 14, 2, mlp=4864, vocabulary=151936, tied=True, qkv_bias=True, **_LLAMA
    ),
    "Mixtral 8x7B": Transformer(
        32, 4096, 32, 8, mlp=14336, experts=8, top_k=2, vocabulary=32000, **_LLAMA
    ),
}
"""Eight of LitGPT's models, with the padded vocabulary that its tables have.

Source: github.com/Lightning-AI/litgpt, litgpt/config.py at commit
26857050fe3ff627cd714fe92f5838f51a3d5efa (Apache License 2.0). A model counts as tied where its
checkpoint brings no head, by litgpt/scripts/convert_hf_checkpoint.py.
"""

NEOX_20B = Transformer(44, 6144, 64, vocabulary=50432, qkv_bias=True, bias=True)
"""Source: configs/20B.yml of github.com/EleutherAI/gpt-neox; the vocabulary by its model card."""

GPT2_124M = Transformer(12, 768, 12, positions=1024, **_GPT)
GPT2_350M = Transformer(24, 1024, 16, positions=1024, **_GPT)
"""Source: scripts/ of github.com/karpathy/llm.c: d12 and d24, of 64 numbers in a head."""

MPT_SIDES = {
    "125m": (12, 768, 12),
    "350m": (24, 1024, 16),
    "760m": (24, 1536, 12),
    "1b": (24, 2048, 16),
    "3b": (32, 2560, 20),
    "7b": (32, 4096, 32),
    "13b": (40, 5120, 40),
    "30b": (48, 7168, 56),
    "70b": (80, 8192, 64),
}
"""Layers, hidden numbers and heads of MosaicML's MPT models. Source: scripts/train/yamls/pretrain/
of github.com/mosaicml/llm-foundry at commit 8c8dd48f72168c5d51e2f7b151595892a8fba43d."""


def mpt(model: str, sequence: int) -> Transformer:
    """Returns an MPT model whose table of positions is made for sequences of that length."""
    return Transformer(*MPT_SIDES[model], vocabulary=50368, positions=sequence, **_GPT)


def megatron(layers: int, hidden: int, heads: int, vocabulary: int = 51_200) -> Transformer:
    """Returns a GPT as Megatron-LM's papers count it, for sequences of 2,048 tokens."""
    return Transformer(layers, hidden, heads, vocabulary=vocabulary, positions=2048, **_GPT)


GPT_174B = megatron(96, 12288, 96)
MT_NLG = megatron(105, 20480, 128)
"""Source: Narayanan et al. 2021, arXiv 2104.04473, Table 2; Smith et al. 2022, arXiv 2201.11990."""

BLOOM = Transformer(70, 14336, 112, vocabulary=250_880, **_GPT)
"""Source: github.com/bigscience-workshop/bigscience, train/tr11-176B-ml. Its positions are biases
of the scores, with nothing learned, and a norm of the embedding is left out here."""
