"""The ledger of real training steps: it adds up, it is repeatable, and each byte has its kind."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from gpu_course.lessons.memory_ledger.formulas import beyond_the_formula
from gpu_course.measure.activation_formulas import LayerShape, layer_terms
from gpu_course.measure.ledger import KINDS, Ledger, keep_ledger
from gpu_course.measure.model import GPT, Shape, next_token_loss, random_tokens
from gpu_course.measure.peak import measure_peak

SHAPE = Shape(hidden=32, heads=4, layers=2, sequence=16, vocabulary=40)


def gpt_ledger(**options: object) -> tuple[GPT, Ledger]:
    torch.manual_seed(0)
    model = GPT(SHAPE)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    batches = options.pop("batches", [random_tokens(SHAPE, 3)])
    return model, keep_ledger(model, next_token_loss, batches, optimizer, **options)


@pytest.fixture(scope="module")
def kept() -> tuple[GPT, Ledger]:
    return gpt_ledger(steps=2)


def parameter_bytes(model: nn.Module) -> int:
    return 4 * sum(parameter.numel() for parameter in model.parameters())


def test_at_every_moment_the_kinds_add_up_to_the_blocks(kept) -> None:
    _, ledger = kept
    for moment in range(0, ledger.moments, 37):
        blocks = sum(entry.bytes for entry in ledger.at(moment))
        assert ledger.total(moment) == blocks + sum(ledger.standing.values())
        assert all(size >= 0 for size in ledger.by_kind(moment).values())
    assert set(ledger.live) == set(KINDS)
    assert ledger.peak_bytes == max(ledger.total(moment) for moment in range(ledger.moments))


def test_the_jump_is_two_moments_and_a_counter_for_each_tensor(kept) -> None:
    model, ledger = kept
    tensors = len(list(model.parameters()))
    jump = 2 * parameter_bytes(model) + 4 * tensors
    assert ledger.live["optimizer states"][ledger.last_of("step 1 backward")] == 0
    for phase in ("step 1 update", "step 2 forward", "step 2 clear"):
        assert ledger.live["optimizer states"][ledger.last_of(phase)] == jump


def test_gradients_are_there_after_backward_and_gone_after_clearing(kept) -> None:
    model, ledger = kept
    for step in (1, 2):
        series = ledger.live["gradients"]
        assert series[ledger.last_of(f"step {step} forward")] == 0
        assert series[ledger.last_of(f"step {step} backward")] == parameter_bytes(model)
        assert series[ledger.last_of(f"step {step} clear")] == 0


def test_activations_of_a_layer_are_the_formula_and_what_lies_beyond_it(kept) -> None:
    _, ledger = kept
    turn = ledger.last_of("step 1 forward")
    owners = ledger.by_owner(turn, "activations")
    shape = LayerShape(SHAPE.sequence, 3, SHAPE.hidden, SHAPE.heads)
    expected = sum(term.bytes for term in layer_terms(shape, 4))
    expected += sum(beyond_the_formula(shape, 4).values())
    for number in range(SHAPE.layers):
        mine = sum(size for owner, size in owners.items() if owner.startswith(f"layers.{number}."))
        assert mine == expected


def test_after_a_step_only_what_stays_is_left(kept) -> None:
    model, ledger = kept
    end = ledger.by_kind(ledger.moments - 1)
    assert end["parameters"] == parameter_bytes(model)
    assert end["gradients"] == end["temporaries"] == 0
    assert end["activations"] == 3 * SHAPE.sequence * 8  # the batch
    assert ledger.total(ledger.last_of("step 1 clear")) == ledger.total(ledger.moments - 1)


def test_the_peak_comes_in_the_second_step_after_the_turn(kept) -> None:
    _, ledger = kept
    assert ledger.phase(ledger.peak_moment) == "step 2 backward"
    turn = ledger.last_of("step 2 forward")
    assert 0 < ledger.peak_moment - turn < 60


def test_phases_follow_each_other_without_a_gap(kept) -> None:
    _, ledger = kept
    names = [phase.name for phase in ledger.phases]
    parts = ("forward", "backward", "update", "clear")
    assert names == [f"step {step} {part}" for step in (1, 2) for part in parts]
    assert ledger.phases[0].first == 1 and ledger.phases[-1].last == ledger.moments - 1
    for before, after in zip(ledger.phases, ledger.phases[1:], strict=False):
        assert after.first == before.last + 1
    with pytest.raises(KeyError, match="no phase is called 'step 3 forward'"):
        ledger.last_of("step 3 forward")


def test_keeping_the_ledger_changes_no_byte_of_the_run() -> None:
    """Hooks and marks take nothing: the peak is that of the same steps without them."""
    model, ledger = gpt_ledger(steps=1)
    torch.manual_seed(0)
    plain, batch = GPT(SHAPE), random_tokens(SHAPE, 3)
    optimizer = torch.optim.Adam(plain.parameters(), fused=True)

    def step() -> None:
        value = next_token_loss(plain(batch), batch)
        value.backward()
        del value
        optimizer.step()
        plain.zero_grad(set_to_none=True)

    peak = measure_peak(step)
    assert ledger.peak_bytes - sum(ledger.standing.values()) == peak.peak_bytes
    # And it trains as the plain steps do.
    for mine, theirs in zip(model.parameters(), plain.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def test_the_same_run_gives_the_same_ledger() -> None:
    _, first = gpt_ledger(steps=1)
    _, second = gpt_ledger(steps=1)
    assert first == second


def test_microbatches_are_phases_of_their_own_and_their_gradients_add_up() -> None:
    batches = [random_tokens(SHAPE, 2, seed) for seed in range(3)]
    model, ledger = gpt_ledger(steps=1, batches=batches)
    names = [phase.name for phase in ledger.phases]
    assert names[:4] == ["step 1.1 forward", "step 1.1 backward", "step 1.2 forward"] + [
        "step 1.2 backward"
    ]
    for part in (1, 2, 3):
        gradients = ledger.live["gradients"][ledger.last_of(f"step 1.{part} backward")]
        assert gradients == parameter_bytes(model)
    _, whole = gpt_ledger(steps=1, batches=[torch.cat(batches)])
    assert ledger.peak_bytes < whole.peak_bytes


def test_owners_name_modules_and_parameters() -> None:
    net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
    x = torch.randn(6, 8)
    ledger = keep_ledger(net, lambda y, _: functional.mse_loss(y, torch.zeros(6, 4)), [x], steps=1)
    turn = ledger.last_of("step 1 forward")
    assert ledger.by_owner(turn, "activations")["1"] == 6 * 16 * 4
    end = ledger.last_of("step 1 backward")
    assert ledger.by_owner(end, "gradients") == {
        "0.weight": 512,
        "2.weight": 256,
        "0.bias": 64,
        "2.bias": 16,
    }
    assert ledger.standing["optimizer states"] == 0


def test_gradients_of_before_are_dropped_and_states_of_before_stand() -> None:
    net = nn.Linear(4, 3)
    optimizer = torch.optim.Adam(net.parameters())
    x = torch.randn(5, 4)
    net(x).sum().backward()
    optimizer.step()
    ledger = keep_ledger(net, lambda y, _: y.sum(), [x], optimizer, steps=1)
    assert ledger.standing["gradients"] == 0
    assert ledger.standing["optimizer states"] == 2 * 15 * 4 + 2 * 4
    assert ledger.by_kind(ledger.moments - 1)["optimizer states"] == 2 * 15 * 4 + 2 * 4


class Checkpointed(nn.Module):
    def __init__(self, **options: bool) -> None:
        super().__init__()
        self.options = options
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 8), nn.Tanh())
            for _ in range(3)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = checkpoint(block, x, **self.options)
        return x


@pytest.mark.parametrize(
    "options",
    [
        {"use_reentrant": True},
        {"use_reentrant": False},
        {"use_reentrant": False, "early_stop": False},
    ],
    ids=["reentrant", "early stop", "to the end"],
)
def test_what_a_checkpoint_makes_again_is_activations(options: dict[str, bool]) -> None:
    rows = 64
    model, x = Checkpointed(**options), torch.randn(rows, 8, requires_grad=True)
    ledger = keep_ledger(model, lambda y, _: (y * y).mean(), [x], steps=1)
    backward = next(phase for phase in ledger.phases if phase.name == "step 1 backward")
    made_again = [
        entry
        for entry in ledger.entries
        if entry.born >= backward.first and entry.kind == "activations"
    ]
    # Of each block: what goes into GELU, what comes out of it, and what comes out of tanh, which
    # tanh keeps. What is made on the way back is none of them.
    wide = [e for e in made_again if e.bytes == rows * 32 * 4]
    assert len(wide) == 6 and {e.owner[:8] for e in wide} == {"blocks.0", "blocks.1", "blocks.2"}
    # A run that is stopped early holds what the last operator read for a moment longer.
    assert sum(e.bytes == rows * 8 * 4 for e in made_again) in (3, 6)
    assert not any("backward" in e.operator or e.operator == "aten::mm" for e in made_again)
