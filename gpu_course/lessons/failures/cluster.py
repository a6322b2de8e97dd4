"""A cluster that fails, event by event: what of its time is training, and what became of the rest.

One job has all nodes. A node, a link or a switch that fails ends it; it goes on from the last
checkpoint that it can read. A switch takes many nodes at once, and with them the copies that
neighbours keep of each other's state. A flipped bit ends nothing: it is noticed later, and
everything since is thrown away. A straggler ends nothing either: all wait for it until it is found.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.planner.goodput import useful_share

HOUR_S = 3600.0
DAY_S = 24 * HOUR_S
NEVER = math.inf
MAX_EVENTS = 200_000
"""A job that fails faster than it can begin never ends; after so many events it is told."""

NODE_GPUS = 8
LLAMA_3_GPU_HOURS = 16_384 * 54 * 24 / 419
"""GPU hours for each unexpected interruption: 419 in 54 days on 16,384 GPUs.

Source: The Llama 3 Herd of Models, arXiv 2407.21783, Table 5.
"""

USES = ("training", "slowed", "writing", "lost", "restarting", "waiting for a node")
"""What the time of a job goes to; the first is what it was bought for."""


@dataclass(frozen=True)
class Parts:
    """How often the parts of a cluster fail, each by itself and at a constant rate.

    Attributes:
        node_mtbf_s: mean time between failures of one node.
        link_mtbf_s: of one node's link: the job ends, and the node is as good as before.
        switch_mtbf_s: of one switch: all its nodes are away until they are restarted.
        nodes_per_switch: that share one.
        flip_mtbf_s: between two silent corruptions of one node.
        flip_noticed_s: how long after it a corruption is noticed.
        straggler_mtbf_s: until one node becomes slow.
        straggler_factor: by how much longer a step takes then.
        straggler_noticed_s: how long after that the node is replaced.
        repair_s: how long a failed node is away.
    """

    node_mtbf_s: float
    link_mtbf_s: float = NEVER
    switch_mtbf_s: float = NEVER
    nodes_per_switch: int = 32
    flip_mtbf_s: float = NEVER
    flip_noticed_s: float = 12 * HOUR_S
    straggler_mtbf_s: float = NEVER
    straggler_factor: float = 1.07
    straggler_noticed_s: float = DAY_S
    repair_s: float = DAY_S


@dataclass(frozen=True)
class Saving:
    """When a job writes its state, and what it takes to begin again.

    Attributes:
        interval_s: of training between two checkpoints.
        stop_s: for how long the job stops for one.
        lands_s: how long after the stop it can be read: 0 where the job waits for all of it.
        restart_s: from a failure to the next step: noticing, starting, reading.
        disk_every: each how-manieth checkpoint goes to disk; the others stay in the memory of a
            neighbour, and are gone where a switch fails. 1 for all on disk.
    """

    interval_s: float
    stop_s: float
    restart_s: float
    lands_s: float = 0.0
    disk_every: int = 1


@dataclass(frozen=True)
class Cluster:
    """A job on so many nodes, with spares beside it.

    Attributes:
        nodes: that the job runs on.
        parts: how they fail.
        saving: how the job saves.
        spares: nodes that stand ready.
    """

    nodes: int
    parts: Parts
    saving: Saving
    spares: int = 4

    @property
    def mtbf_s(self) -> float:
        """Mean time between two failures that end the job."""
        parts, switches = self.parts, math.ceil(self.nodes / self.parts.nodes_per_switch)
        rate = self.nodes / parts.node_mtbf_s + self.nodes / parts.link_mtbf_s
        return 1 / (rate + switches / parts.switch_mtbf_s) if rate else NEVER

    def saving_every(self, interval_s: float) -> Cluster:
        """Returns the same with another interval."""
        return replace(self, saving=replace(self.saving, interval_s=interval_s))


@dataclass(frozen=True)
class Event:
    """Something that ended a job or slowed it.

    Attributes:
        at_s: of the job's time.
        kind: "node", "link", "switch", "flip" (when it is noticed) or "straggler" (when replaced).
        lost_s: of training that is done again.
        back_s: from this event to the next step.
    """

    at_s: float
    kind: str
    lost_s: float
    back_s: float


@dataclass(frozen=True)
class Ledger:
    """Where the time of a job went.

    Attributes:
        seconds: for each of USES.
        events: in the order in which they came.
        checkpoints: that were written.
    """

    seconds: dict[str, float]
    events: tuple[Event, ...]
    checkpoints: int

    @property
    def wall_s(self) -> float:
        """All of the job's time."""
        return sum(self.seconds.values())

    @property
    def goodput(self) -> float:
        """The share of it that was training, once."""
        return self.seconds["training"] / self.wall_s if self.wall_s else 0.0

    def failures(self, kind: str = "") -> int:
        """Returns how many events there were, of one kind or of all."""
        return sum(not kind or event.kind == kind for event in self.events)


@dataclass
class _Job:
    """A job under way.

    Its place in the cycle is `since` (of training after the last checkpoint) or, while a checkpoint
    is written, `stopping`. `work` never counts what is done again.
    """

    saving: Saving
    now: float = 0.0
    work: float = 0.0
    since: float = 0.0
    stopping: float = 0.0
    written: int = 0
    disk: float = 0.0
    memory: float = 0.0
    landing: list[tuple[float, float, bool]] = field(default_factory=list)
    restarting: float = 0.0
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(USES, 0.0))

    def advance(self, until: float, slow: float, goal: float) -> None:
        """Trains and saves until a time, or until the work is done."""
        cycle = self.saving.interval_s * slow + self.saving.stop_s
        while self.now < until and self.work < goal:
            if self.stopping:
                step = min(self.stopping, until - self.now)
                self.stopping -= step
                self._spend("writing", step)
                if not self.stopping:
                    self._close()
                continue
            left = min(until - self.now, (goal - self.work) * slow)
            if not self.since and left > 4 * cycle:
                self._cycles(int(left / cycle) - 2, slow)
                continue
            room = min(self.saving.interval_s - self.since, goal - self.work)
            step = min(room * slow, left)
            self._train(step / slow, slow)
            if self.since >= self.saving.interval_s * (1 - 1e-12) and self.work < goal:
                self.since, self.stopping = self.saving.interval_s, self.saving.stop_s
                if not self.stopping:
                    self._close()
        self._land()

    def _spend(self, use: str, seconds: float) -> None:
        self.seconds[use] += seconds
        self.now += seconds

    def _train(self, work: float, slow: float) -> None:
        self.seconds["training"] += work
        self.seconds["slowed"] += work * (slow - 1)
        self.now += work * slow
        self.work += work
        self.since += work

    def _close(self) -> None:
        """A checkpoint has been taken, and lands later."""
        self.since = self.stopping = 0.0
        self.written += 1
        on_disk = self.written % self.saving.disk_every == 0
        self.landing.append((self.now + self.saving.lands_s, self.work, on_disk))

    def _cycles(self, cycles: int, slow: float) -> None:
        """Whole cycles at once: only the last checkpoints of each kind matter."""
        cycles = max(cycles, 1)
        start_work, start_written, start = self.work, self.written, self.now
        interval, cycle = self.saving.interval_s, self.saving.interval_s * slow + self.saving.stop_s
        self._train(cycles * interval, slow)
        self._spend("writing", cycles * self.saving.stop_s)
        self.since, self.written = 0.0, self.written + cycles
        every = self.saving.disk_every
        # Those that could still be under way, and the last two on disk before them.
        late = math.ceil(self.saving.lands_s / cycle) + 2
        first = max(1, cycles - late * every - every)
        for k in range(first, cycles + 1):
            on_disk = (start_written + k) % every == 0
            lands = start + k * cycle + self.saving.lands_s
            self.landing.append((lands, start_work + k * interval, on_disk))
        self._land()

    def _land(self) -> None:
        """What has landed by now can be read."""
        waiting = []
        for lands, work, on_disk in self.landing:
            if lands > self.now:
                waiting.append((lands, work, on_disk))
                continue
            self.memory = max(self.memory, work)
            if on_disk:
                self.disk = max(self.disk, work)
        self.landing = waiting

    def restart(self) -> None:
        """Starts again; it may be hit in the meantime, so it is kept until when."""
        self._spend("restarting", self.saving.restart_s)
        self.restarting = self.now

    def hit(self, at: float) -> None:
        """Takes back what is left of a restart that a failure cuts short."""
        if self.now == self.restarting and at < self.now:
            self._spend("restarting", -min(self.now - at, self.saving.restart_s))

    def wait_for_a_node(self, until: float) -> None:
        """Stands still until a node is back."""
        self._spend("waiting for a node", max(until - self.now, 0.0))

    def saved(self, memory: bool) -> float:
        """Returns the training that a checkpoint holds which can be read now."""
        return max(self.disk, self.memory) if memory else self.disk

    def fall_back(self, saved: float) -> float:
        """Goes on from a checkpoint, and returns what is lost."""
        lost = self.work - saved
        self.seconds["training"] -= lost
        self.seconds["lost"] += lost
        self.work, self.since, self.stopping = saved, 0.0, 0.0
        self.landing.clear()
        self.memory, self.disk = min(self.memory, saved), min(self.disk, saved)
        return lost


def run(cluster: Cluster, work_s: float, seed: int = 0) -> Ledger:
    """Returns where the time of one job went, until so much training was done.

    Args:
        cluster: nodes, how they fail, and how the job saves.
        work_s: of training, as it would take if nothing ever failed and nothing was written.
        seed: draws when what fails. The failures of two clusters with one seed are drawn alike.

    Raises:
        CourseError: a number is out of range, or the job gets nowhere.
    """
    _check(cluster, work_s)
    parts, saving = cluster.parts, cluster.saving
    draws = {kind: _times(cluster, kind, seed) for kind in _KINDS}
    upcoming = [(next(times), kind) for kind, times in draws.items()]
    heapq.heapify(upcoming)
    job, events = _Job(saving), list[Event]()
    slow_until: list[float] = []
    clean: list[tuple[float, float]] = []
    spares, back, awake = cluster.spares, list[float](), 0.0
    for _ in range(MAX_EVENTS):
        at, kind = upcoming[0]
        if at < awake:
            # Nothing was running by then, and nodes at rest are taken not to fail.
            heapq.heapreplace(upcoming, (next(draws[kind]), kind))
            continue
        slow = parts.straggler_factor if slow_until else 1.0
        noticed = min((due for due, _ in clean), default=NEVER)
        replaced = min(slow_until, default=NEVER)
        due = min(at, noticed, replaced)
        job.advance(max(due, job.now), slow, work_s)
        if job.work >= work_s:
            return Ledger(job.seconds, tuple(events), job.written)
        while back and back[0] <= job.now:
            heapq.heappop(back)
            spares += 1
        if due == noticed:
            # Everything since the flip is wrong, on disk too.
            _, good = min(clean)
            clean.clear()
            lost, needs = job.fall_back(min(good, job.work)), 1
            kind = "flip"
        elif due == replaced:
            slow_until.remove(replaced)
            lost, needs, kind = 0.0, 1, "straggler"
        else:
            heapq.heapreplace(upcoming, (next(draws[kind]), kind))
            if kind == "flip":
                # By the time it is noticed, copies in memory have been written over.
                clean.append((at + parts.flip_noticed_s, job.saved(memory=False)))
                continue
            if kind == "straggler":
                slow_until.append(at + parts.straggler_noticed_s)
                continue
            job.hit(at)
            lost = job.fall_back(job.saved(memory=kind != "switch"))
            # A job that went back to before a flip has shaken it off.
            clean = [(when, good) for when, good in clean if job.work > good]
            needs = 1 if kind == "node" else 0
        began = job.now
        if needs:
            spares -= 1
            heapq.heappush(back, job.now + parts.repair_s)
            if spares < 0:
                job.wait_for_a_node(back[0])
                heapq.heappop(back)
                spares += 1
                awake = job.now
        job.restart()
        events.append(Event(began, kind, lost, job.now - began))
    raise CourseError(
        f"after {MAX_EVENTS:,} events the job is at {job.work / work_s:.0%}: "
        "it fails faster than it gets on",
        "ask for fewer nodes, a shorter restart or parts that last longer",
    )


_KINDS = ("node", "link", "switch", "flip", "straggler")


def _times(cluster: Cluster, kind: str, seed: int) -> Iterator[float]:
    """Yields when parts of a kind fail: gaps are exponential, for a constant rate."""
    parts = cluster.parts
    switches = math.ceil(cluster.nodes / parts.nodes_per_switch)
    mean, many = {
        "node": (parts.node_mtbf_s, cluster.nodes),
        "link": (parts.link_mtbf_s, cluster.nodes),
        "switch": (parts.switch_mtbf_s, switches),
        "flip": (parts.flip_mtbf_s, cluster.nodes),
        "straggler": (parts.straggler_mtbf_s, cluster.nodes),
    }[kind]
    now = 0.0
    rng = np.random.default_rng([seed, _KINDS.index(kind)])
    while True:
        if not math.isfinite(mean):
            yield NEVER
            continue
        for gap in rng.exponential(mean / many, 256):
            now += float(gap)
            yield now


def _check(cluster: Cluster, work_s: float) -> None:
    saving, parts = cluster.saving, cluster.parts
    positive = {
        "nodes": cluster.nodes,
        "interval_s": saving.interval_s,
        "work_s": work_s,
        "node_mtbf_s": parts.node_mtbf_s,
        "link_mtbf_s": parts.link_mtbf_s,
        "switch_mtbf_s": parts.switch_mtbf_s,
        "flip_mtbf_s": parts.flip_mtbf_s,
        "straggler_mtbf_s": parts.straggler_mtbf_s,
        "nodes_per_switch": parts.nodes_per_switch,
        "disk_every": saving.disk_every,
    }
    others = {
        "stop_s": saving.stop_s,
        "lands_s": saving.lands_s,
        "restart_s": saving.restart_s,
        "spares": cluster.spares,
        "repair_s": parts.repair_s,
    }
    for name, value in positive.items():
        if not value > 0:
            raise CourseError(f"{name} is {value}", "it is more than 0")
    for name, value in others.items():
        if not 0 <= value < NEVER:
            raise CourseError(f"{name} is {value}", "it is 0 or more")
    if not 0 < work_s < NEVER or not saving.interval_s < NEVER:
        raise CourseError("a job without an end, or one that never saves", "give finite seconds")
    if parts.straggler_factor < 1:
        raise CourseError(f"straggler_factor is {parts.straggler_factor}", "it is 1 or more")


def expected_goodput(cluster: Cluster) -> float:
    """Returns the goodput that a long job comes to on average, where nodes and links alone fail.

    A restart may be hit too. All checkpoints are complete when training goes on, and spares never
    run out.
    """
    saving = cluster.saving
    return useful_share(cluster.mtbf_s, saving.interval_s, saving.stop_s, saving.restart_s)


def best_interval_s(cluster: Cluster) -> float:
    """Returns the interval with the highest expected goodput, found by looking: no formula for it.

    A golden-section search over the logarithm of the interval.
    """
    low, high = math.log(1e-3), math.log(1e3 * cluster.mtbf_s)
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(80):
        one, two = high - ratio * (high - low), low + ratio * (high - low)
        ahead = expected_goodput(cluster.saving_every(math.exp(one)))
        if ahead > expected_goodput(cluster.saving_every(math.exp(two))):
            high = two
        else:
            low = one
    return math.exp((low + high) / 2)
