"""A pipeline that never drains, weight version by weight version, beside one that does.

    run = train("newest", stages=4)
    run.gradient_error                   # for each stage: how far from any function's gradient
    train("stashed").gradient_error      # 0 but for rounding: right, for weights that are old
    train("stashed").versions            # (4, 3, 2, 1): what that costs, in copies of the weights
    train("predicted").drift             # smaller than that of "stashed"

Stages are products with tanh between them, written out in NumPy in float64. Each follows 1F1B
without an end, and steps after each backward pass; POLICIES says which weights a microbatch meets.

Sources: Narayanan et al., PipeDream (SOSP 2019), section 3.3: stashing and vertical sync; Chen et
al., SpecTrain (arXiv 1809.02839): weights predicted along the smoothed gradient; Huang et al.,
GPipe (arXiv 1811.06965): one step for all microbatches, once all are back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.measure.pipelines import orders
from gpu_course.measure.pipelines.actions import FORWARD, Action, Schedule
from gpu_course.measure.pipelines.timing import Costs, simulate

POLICIES = {
    "newest": "whatever weights are there: new ones on the way back, old ones on the way down",
    "stashed": "on the way back those of the way down, which are put aside",
    "vertical": "the same, and every stage takes the version that stage 0 took",
    "predicted": "on the way down what the weights will be on the way back, as momentum has it",
    "drained": "the same weights for all, and a step once all are back",
}
"""Which weights a microbatch meets."""
WIDTH, ROWS = 6, 5
Array = np.ndarray


@dataclass(frozen=True)
class Training:
    """What became of a training run.

    Attributes:
        policy: a name of POLICIES.
        losses: of each microbatch, in order.
        gradient_error: for each stage the largest relative distance of a microbatch's gradient to
            the weights from the true gradient at the weights it met on its way down.
        lag: for each stage the most steps between a microbatch's way down and its way back.
        drift: for each stage the mean relative distance of the weights a microbatch met on its way
            down from those that are the newest on its way back; microbatches count that come once
            the pipeline is full and steps have been taken.
        versions: for each stage the most versions of its weights that are held at a time.
        weight_bytes: of one version of a stage.
        weights: the last ones, a (WIDTH, WIDTH) array for each stage.
    """

    policy: str
    losses: tuple[float, ...]
    gradient_error: tuple[float, ...]
    lag: tuple[int, ...]
    drift: tuple[float, ...]
    versions: tuple[int, ...]
    weight_bytes: int
    weights: tuple[Array, ...] = field(repr=False)

    @property
    def held_bytes(self) -> tuple[int, ...]:
        """For each stage the bytes of all versions of its weights that are held at a time."""
        return tuple(count * self.weight_bytes for count in self.versions)


def train(
    policy: str,
    stages: int = 4,
    microbatches: int = 32,
    rate: float = 0.1,
    momentum: float = 0.9,
    seed: int = 0,
) -> Training:
    """Returns what becomes of weights, gradients and versions when microbatches follow each other.

    Args:
        policy: a name of POLICIES.
        stages: one on each rank.
        microbatches: how many come; with "drained" as many as there are stages make a step.
        rate: how far a step goes.
        momentum: the share of the smoothed gradient that stays; 0 for plain descent.
        seed: of weights and data.

    Raises:
        CourseError: there is no such policy, or nothing to do.
    """
    if policy not in POLICIES:
        raise CourseError(f"no policy is called {policy!r}", f"there are {', '.join(POLICIES)}")
    pipeline = _Pipeline(policy, stages, microbatches, rate, momentum, seed)
    for action in _in_time(stages, microbatches, drains=policy == "drained"):
        pipeline.do(action)
    return pipeline.result()


def data(stages: int, microbatches: int, seed: int) -> tuple[list[Array], list[Array], list[Array]]:
    """Returns the first weights, and for each microbatch its input and its target.

    Targets are what other weights of the same kind make of the input.
    """
    rng = np.random.default_rng(seed)
    scale = 1.2 / WIDTH**0.5
    weights, teacher = (
        [scale * rng.standard_normal((WIDTH, WIDTH)) for _ in range(stages)] for _ in range(2)
    )
    inputs = [rng.standard_normal((ROWS, WIDTH)) for _ in range(microbatches)]
    targets = [_down(teacher, x)[-1] for x in inputs]
    return weights, inputs, targets


def true_gradients(weights: list[Array], x: Array, target: Array) -> list[Array]:
    """Returns the gradient of the loss to each stage's weights, all met at the same time.

    Args:
        weights: of each stage, (WIDTH, WIDTH).
        x, target: (ROWS, WIDTH).
    """
    states = _down(weights, x)
    gradient, found = loss_gradient(states[-1], target), []
    for stage in reversed(range(len(weights))):
        last = stage == len(weights) - 1
        to_weights, gradient = _back(
            states[stage], states[stage + 1], gradient, weights[stage], last
        )
        found.append(to_weights)
    return found[::-1]


def loss_of(y: Array, target: Array) -> float:
    """Returns half the mean squared distance."""
    return float(((y - target) ** 2).mean() / 2)


def loss_gradient(y: Array, target: Array) -> Array:
    """Returns its gradient to y."""
    return (y - target) / y.size


def _stage(x: Array, weight: Array, last: bool) -> Array:
    return x @ weight if last else np.tanh(x @ weight)


def _back(x: Array, y: Array, gradient: Array, weight: Array, last: bool) -> tuple[Array, Array]:
    """Returns the gradients to a stage's weights and to its input."""
    inner = gradient if last else gradient * (1 - y**2)
    return x.T @ inner, inner @ weight.T


def _down(weights: list[Array], x: Array) -> list[Array]:
    states = [x]
    for stage, weight in enumerate(weights):
        states.append(_stage(states[-1], weight, stage == len(weights) - 1))
    return states


def _in_time(stages: int, microbatches: int, *, drains: bool) -> list[Action]:
    """Returns all actions as they begin one after the other."""

    def begun(schedule: Schedule) -> list[Action]:
        spans = [span for spans in simulate(schedule, Costs()).spans for span in spans]
        return [span.action for span in sorted(spans, key=lambda span: (span.start, span.rank))]

    if not drains:
        return begun(orders.one_f_one_b(stages, microbatches))
    found: list[Action] = []
    for first in range(0, microbatches, stages):
        group = orders.gpipe(stages, min(stages, microbatches - first))
        found += [Action(a.stage, a.kind, first + a.microbatch) for a in begun(group)]
    return found


class _Pipeline:
    """Stages with their weights, and the microbatches under way."""

    def __init__(
        self, policy: str, stages: int, microbatches: int, rate: float, momentum: float, seed: int
    ) -> None:
        first, self.inputs, self.targets = data(stages, microbatches, seed)
        self.policy, self.rate, self.momentum = policy, rate, momentum
        self.stages, self.count = stages, microbatches
        self.versions = [[weight] for weight in first]
        """All that a stage ever had; what a policy has to hold of them is counted apart."""
        self.smoothed = [np.zeros_like(weight) for weight in first]
        self.sums = [np.zeros_like(weight) for weight in first]
        self.states: dict[tuple[int, int], tuple[Array, Array]] = {}
        self.met: dict[tuple[int, int], Array] = {}
        self.took: dict[tuple[int, int], int] = {}
        self.coming: dict[tuple[int, int], Array] = {}
        self.losses: dict[int, float] = {}
        self.trips: list[tuple[int, int, int, float]] = []
        self.found: dict[tuple[int, int], Array] = {}
        self.most = [1] * stages

    def do(self, action: Action) -> None:
        (self.forward if action.kind == FORWARD else self.backward)(action.stage, action.microbatch)
        for stage in range(self.stages):
            self.most[stage] = max(self.most[stage], self.held(stage))

    def newest(self, stage: int) -> int:
        return len(self.versions[stage]) - 1

    def forward(self, stage: int, each: int) -> None:
        version = self.newest(stage)
        if self.policy == "vertical" and stage:
            version = self.took[0, each]
        weight = self.versions[stage][version]
        if self.policy == "predicted":
            steps = each - version  # Each microbatch steps once, and this one steps after those.
            weight = weight - steps * self.rate * self.smoothed[stage]
        x = self.states[stage - 1, each][1] if stage else self.inputs[each]
        last = stage == self.stages - 1
        y = _stage(x, weight, last)
        self.states[stage, each], self.met[stage, each] = (x, y), weight
        self.took[stage, each] = version
        if last:
            self.losses[each] = loss_of(y, self.targets[each])
            self.coming[stage, each] = loss_gradient(y, self.targets[each])

    def backward(self, stage: int, each: int) -> None:
        here = self.versions[stage][-1]
        met = self.met[stage, each]
        weight = here if self.policy in ("newest", "predicted") else met
        x, y = self.states[stage, each]
        last = stage == self.stages - 1
        to_weights, back = _back(x, y, self.coming.pop((stage, each)), weight, last)
        if stage:
            self.coming[stage - 1, each] = back
        self.found[stage, each] = to_weights
        self.trips.append(
            (stage, each, self.newest(stage) - self.took[stage, each], _far(met, here))
        )
        self.step(stage, each, to_weights)
        self.took[stage, each] = -1

    def step(self, stage: int, each: int, gradient: Array) -> None:
        self.sums[stage] = self.sums[stage] + gradient
        whole = each == self.count - 1 or (each + 1) % self.stages == 0
        if self.policy == "drained" and not whole:
            return
        keeps = self.momentum
        self.smoothed[stage] = keeps * self.smoothed[stage] + (1 - keeps) * self.sums[stage]
        self.sums[stage] = np.zeros_like(gradient)
        self.versions[stage].append(self.versions[stage][-1] - self.rate * self.smoothed[stage])

    def held(self, stage: int) -> int:
        """Returns how many versions of its weights a stage has to hold now."""
        newest = self.newest(stage)
        if self.policy in ("newest", "predicted"):
            return 1
        if self.policy == "vertical":
            # Whoever is under way, here or above, meets its version here; and so will the next.
            needed = [v for (at, each), v in self.took.items()
                      if at == 0 and v >= 0 and (stage, each) not in self.found]  # fmt: skip
            needed += [v for (at, _), v in self.took.items() if at == stage and v >= 0]
            return newest - min([newest, self.newest(0), *needed]) + 1
        return len({newest, *(v for (at, _), v in self.took.items() if at == stage and v >= 0)})

    def result(self) -> Training:
        errors, lag = [0.0] * self.stages, [0] * self.stages
        drift: list[list[float]] = [[] for _ in range(self.stages)]
        for stage, each, steps, far in self.trips:
            lag[stage] = max(lag[stage], steps)
            if each >= 2 * self.stages:
                drift[stage].append(far)
        for each in range(self.count):
            met = [self.met[stage, each] for stage in range(self.stages)]
            right = true_gradients(met, self.inputs[each], self.targets[each])
            for stage, gradient in enumerate(right):
                errors[stage] = max(errors[stage], _far(self.found[stage, each], gradient))
        return Training(
            self.policy,
            tuple(self.losses[each] for each in range(self.count)),
            tuple(errors),
            tuple(lag),
            tuple(float(np.mean(each)) if each else 0.0 for each in drift),
            tuple(self.most),
            self.versions[0][0].nbytes,
            tuple(each[-1] for each in self.versions),
        )


def _far(one: Array, other: Array) -> float:
    return float(np.linalg.norm(one - other) / np.linalg.norm(other))
