"""The Playbook's runs: whole, and as their numbers say of each other."""

import pytest

from gpu_course.planner.layout import broken_rules
from gpu_course.planner.playbook import MODELS, playbook_runs


def test_axes_multiply_to_the_gpus():
    for run in playbook_runs():
        assert run.dp * run.tp * run.pp == run.gpus
        assert run.zero in (0, 1)


def test_in_14_runs_the_microbatches_are_not_the_printed_batch():
    """The microbatches give 128, 384 or 4,096 sequences there, and the file does not say why."""
    odd = [run for run in playbook_runs() if run.step.sequences != run.batch]
    assert len(odd) == 14 and {run.batch for run in playbook_runs()} == {256}
    assert sum(not run.failed for run in odd) == 7


def test_a_run_has_all_its_results_or_none():
    for run in playbook_runs():
        results = (run.mfu, run.tokens_per_s_gpu, run.tokens_per_s, run.peak_gib)
        assert len({each is None for each in results}) == 1
        if run.tokens_per_s is not None:
            assert run.tokens_per_s == pytest.approx(run.tokens_per_s_gpu * run.gpus, abs=run.gpus)


def test_shapes_have_as_many_parameters_as_their_names_say():
    for name, shape in MODELS.items():
        assert float(name[:-1]) == pytest.approx(shape.parameters / 1e9, rel=0.003)


def test_layouts_are_those_of_the_file():
    run = next(run for run in playbook_runs() if run.pp > 1 and run.tp > 1)
    layout = run.layout()
    assert (layout.dp, layout.tp, layout.pp, layout.zero) == (run.dp, run.tp, run.pp, run.zero)
    assert layout.microbatches(run.step) == run.accumulation
    assert not broken_rules(run.shape, layout, run.step)
    assert run.step.tokens == 4096 and not run.layout("all-reduce").sequence_parallel
