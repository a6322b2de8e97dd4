"""The dynamic programme against trying everything, and its schedules followed step by step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_course.lessons.optimal_checkpointing import dynamic_program
from gpu_course.lessons.optimal_checkpointing.dynamic_program import BudgetTooSmall, solve
from gpu_course.measure.schedules import plans
from gpu_course.measure.schedules.chain import Chain, Stage, uniform
from gpu_course.measure.schedules.operations import account
from tests.lessons.optimal_checkpointing.brute_force import best_cost
from tests.sampling import examples

sizes = st.integers(0, 4)


@st.composite
def stages(draw: st.DrawFn) -> Stage:
    output, saved = draw(st.integers(1, 4)), draw(sizes)
    return Stage(
        output_bytes=output,
        saved_bytes=saved,
        forward_bytes=output + draw(sizes),
        forward_saving_bytes=output + saved + draw(sizes),
        backward_bytes=draw(sizes),
        output_gradient_bytes=draw(sizes),
        forward_cost=draw(st.integers(1, 5)),
        backward_cost=draw(st.integers(0, 5)),
    )


chains = st.lists(stages(), min_size=1, max_size=6).map(lambda parts: Chain(tuple(parts)))


@settings(deadline=None, max_examples=examples(300, few=60))
@given(chain=chains, memory=st.integers(1, 40))
def test_the_table_equals_trying_everything(chain: Chain, memory: int) -> None:
    table = solve(chain, memory)
    assert table.best_cost() == best_cost(chain, memory)


@settings(deadline=None, max_examples=examples(300, few=60))
@given(chain=chains, memory=st.integers(1, 40))
def test_a_schedule_costs_what_the_table_says_and_fits(chain: Chain, memory: int) -> None:
    table = solve(chain, memory)
    if np.isinf(table.best_cost()):
        with pytest.raises(BudgetTooSmall):
            table.schedule()
        return
    found = account(chain, table.schedule())
    assert found.cost == table.best_cost()
    assert found.peak <= memory


def test_more_memory_never_costs_more() -> None:
    costs = solve(uniform(12), 14).cost[0][-1]
    assert all(costs[:-1] >= costs[1:])
    assert costs[-1] == 12


def random_chain(rng: np.random.Generator) -> Chain:
    def stage() -> Stage:
        output, saved = int(rng.integers(1, 9)), int(rng.integers(0, 30))
        return Stage(
            output_bytes=output,
            saved_bytes=saved,
            forward_bytes=output + int(rng.integers(0, 5)),
            forward_saving_bytes=output + saved + int(rng.integers(0, 5)),
            backward_bytes=int(rng.integers(0, 12)),
            output_gradient_bytes=output,
            forward_cost=int(rng.integers(1, 50)),
            backward_cost=int(rng.integers(1, 90)),
        )

    return Chain(tuple(stage() for _ in range(int(rng.integers(4, 20)))))


@pytest.mark.parametrize("seed", range(200))
def test_never_worse_than_a_periodic_plan_in_the_memory_that_plan_takes(seed: int) -> None:
    chain = random_chain(np.random.default_rng(seed))
    others = [
        account(chain, plans.periodic(len(chain), segments)) for segments in range(1, len(chain))
    ]
    others += [account(chain, plan(len(chain))) for plan in (plans.square_root, plans.logarithmic)]
    table = solve(chain, max(other.peak for other in others))
    assert all(table.best_cost(other.peak) <= other.cost for other in others)


@pytest.mark.parametrize(("seed", "gap"), [(0, 0), (7, 42), (17, 59), (25, 76), (28, 81)])
def test_persistence_has_its_price_on_some_chains(seed: int, gap: int) -> None:
    chain = Chain(random_chain(np.random.default_rng(seed)).stages[:6])
    memory = solve(chain, 150).least_memory()
    assert memory is not None
    persistent = solve(chain, memory).best_cost()
    assert persistent == best_cost(chain, memory)
    assert persistent - best_cost(chain, memory, persistent=False) == gap


@pytest.mark.parametrize(("length", "memory"), [(1, 3), (7, 20), (25, 60)])
def test_compiled_and_as_it_is_the_same_table(length: int, memory: int) -> None:
    rng = np.random.default_rng(length)
    numbers = [tuple(map(int, rng.integers(1, 9, 8))) for _ in range(length)]
    parts = [
        Stage(o, s, o + f, o + s + f, b, g, ahead, back)
        for o, s, f, b, g, ahead, back, _ in numbers
    ]
    plain, compiled = (np.full((length, length, memory + 1), -1.0) for _ in range(2))
    dynamic_program._fill(plain, *dynamic_program._numbers(Chain(tuple(parts))))
    dynamic_program._compiled()(compiled, *dynamic_program._numbers(Chain(tuple(parts))))
    assert np.array_equal(plain, compiled)


def test_without_a_place_to_keep_it_the_solver_is_compiled_in_memory(monkeypatch) -> None:
    import numba

    njit = numba.njit

    def nowhere(*functions, cache=False):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return njit(*functions)

    monkeypatch.setattr(numba, "njit", nowhere)
    assert dynamic_program._compiled.__wrapped__().py_func is dynamic_program._fill
