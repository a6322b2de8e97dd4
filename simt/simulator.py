"""`simulate`: the one entry to the simulator, joining the interpreter with its observers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simt.compiled.filter import OFF, Filter, asked_for
from simt.errors import HAZARD_ERRORS, UserError
from simt.kernel import legality, source
from simt.machine import launch
from simt.machine.faults import POLICIES, Fault, FaultLog
from simt.machine.lent import lent_arguments
from simt.machine.observer import Observer, Setting
from simt.machine.schedule import Kind, RoundRobin, Schedule
from simt.machine.scheduler import MAX_LANES
from simt.machine.watchdog import Waits
from simt.observe.counts import Barriers, Divergence, Idling, Precision, Resources, WideLoads
from simt.observe.explain import explain
from simt.observe.races import Races
from simt.observe.touches import MAX_LANES as MAX_LANES_TOUCHED
from simt.observe.touches import Touches
from simt.observe.transactions import Banks, Coalescing
from simt.report import Counters, Dim3, LaunchShape, Printout, Report, Touch

STEP_BUDGET = 250_000
MAX_BYTES_KEPT = 1 << 22
"""Of the arrays of a small launch that runs compiled: they are kept for whoever asks who touched
them, and with more the interpreter runs it."""


class Simulation:
    """A kernel ready to be launched: `simulate(kernel)[grid, block](*args)`.

    Built by `simulate`; the static pass has already accepted the kernel.
    """

    def __init__(
        self,
        kernel: Any,
        *,
        raise_on_hazard: bool,
        order_seed: int | None,
        step_budget: int,
        policy: str,
        schedule: Schedule | None,
        observers: Sequence[Observer],
        counters: bool,
        detect_races: bool,
        compiled: bool | None,
    ) -> None:
        self.schedule = schedule
        self.compiled = compiled
        self.counters = counters
        self.detect_races = detect_races
        self.observers = tuple(observers)
        self.policy = POLICIES[policy]
        self.given = kernel
        self.read()
        self.raise_on_hazard = raise_on_hazard
        self.order_seed = order_seed
        self.step_budget = step_budget

    def read(self) -> None:
        """Reads the kernel with its globals and closure values as they are now."""
        self.kernel = _kernel(self.given)
        self.program = legality.check(self.kernel)
        if not self.policy.lambdas:
            legality.refuse_lambdas(self.program)
        self.may_wait = self.program.may_wait

    def __getitem__(self, configuration: Any) -> _Configured:
        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        if not 2 <= len(parts) <= 4:
            raise UserError(
                f"a launch takes [grid, block], and {self.kernel.name} got [{configuration!r}]",
                "write simulate(kernel)[blocks, threads](...)",
            )
        grid, block = launch.dim3(parts[0], "grid"), launch.dim3(parts[1], "block")
        return _Configured(self, grid, block, parts[3] if len(parts) == 4 else 0)

    def __call__(self, *_: object) -> Report:
        raise UserError(
            f"{self.kernel.name} is launched without a grid and a block",
            "write simulate(kernel)[blocks, threads](...)",
        )


class _Configured:
    def __init__(self, simulation: Simulation, grid: Dim3, block: Dim3, shared_bytes: int) -> None:
        self.simulation = simulation
        self.grid = grid
        self.block = block
        self.shared_bytes = shared_bytes

    def __call__(self, *arguments: Any) -> Report:
        simulation = self.simulation
        simulation.read()
        kernel = simulation.kernel
        arguments = lent_arguments(kernel.parameters, arguments)
        fact = launch.illegal(self.grid, self.block)
        if fact is not None:
            faults, line = FaultLog(), kernel.tree.lineno
            faults.add(Fault("illegal-launch", line, np.empty(0, np.int64), {"fact": fact}))
            faults.finished = False
            seen = _Seen(faults, _Watch(), {})
        else:
            launch.check_size(kernel.name, self.grid, self.block)
            seen = self._run(arguments)
        report = Report(
            kernel=kernel.name,
            file=kernel.file,
            hazards=explain(seen.faults, kernel, self.grid, self.block),
            by_line=seen.by_line,
            launch=_shape(self.grid, self.block, seen.resources),
            touches=seen.touches,
            printed=seen.printed,
            finished=seen.faults.finished,
        )
        if simulation.raise_on_hazard and not report.ok:
            hazard = report.hazards[0]
            raise HAZARD_ERRORS[hazard.kind](report, hazard)
        return report

    def _run(self, arguments: tuple[Any, ...]) -> _Seen:
        """All threads together; from the start in warps, then in threads, where they must wait."""
        simulation = self.simulation
        if simulation.schedule is not None:
            return self._follow(arguments, simulation.schedule)
        arrays = [v for a in arguments for v in launch.arrays_in("", a).values()]
        before = [a.copy() for a in arrays] if simulation.may_wait else []
        schedule: Schedule | None = None
        for finer in ("warps", "threads"):
            try:
                return self._launch(arguments, schedule)
            except Waits as waits:
                self._check_size(waits, finer)
            for array, old in zip(arrays, before, strict=True):
                array[...] = old
            schedule = RoundRobin(finer, seed=simulation.order_seed)
        return self._launch(arguments, schedule)

    def _follow(self, arguments: tuple[Any, ...], schedule: Schedule) -> _Seen:
        try:
            return self._launch(arguments, schedule)
        except Waits as waits:
            raise waits.kernel.refuse(
                waits.line,
                "the threads of one warp wait for each other in this loop, and the schedule keeps "
                "each warp together",
                'give the schedule tasks="threads"',
            ) from None

    def _check_size(self, waits: Waits, tasks: Kind) -> None:
        lanes, most = _shape(self.grid, self.block, Resources()).lanes, MAX_LANES[tasks]
        if lanes > most:
            raise waits.kernel.refuse(
                waits.line,
                f"this loop waits for other threads, and the simulator runs {tasks} one by one "
                f"in launches of at most {most:,} threads; this one has {lanes:,}",
                "launch fewer blocks",
            ) from None

    def _launch(self, arguments: tuple[Any, ...], schedule: Schedule | None) -> _Seen:
        simulation = self.simulation
        faults, watch, printout = FaultLog(), _Watch(), Printout()
        own: tuple[Observer, ...] = ()
        if simulation.detect_races:
            own = watch.all() if simulation.counters else (watch.races, watch.resources)
        filter_, before = self._filter(schedule), _Before(self, arguments)

        def instead(setting: Setting) -> bool:
            return filter_ is not None and filter_.clean(setting, before.keep)

        steps = launch.run(
            simulation.program,
            self.grid,
            self.block,
            arguments,
            (*simulation.observers, *own),
            faults,
            order_seed=simulation.order_seed,
            step_budget=simulation.step_budget,
            dynamic_bytes=self.shared_bytes,
            policy=simulation.policy,
            printout=printout,
            schedule=schedule,
            instead=instead,
            meanwhile=None if filter_ is None else filter_.meanwhile,
        )
        if filter_ is None:
            return _Seen(faults, watch, watch.by_line(), printout.text())
        if filter_.by_line is None:
            filter_.interpreted(steps)
            return _Seen(faults, watch, watch.by_line(), printout.text())
        watch = _Watch()  # the interpreter may have begun
        watch.resources.begin(filter_.setting)
        by_line = filter_.by_line if simulation.counters else {}
        return _Seen(faults, watch, by_line, touches=before.touches)

    def _filter(self, schedule: Schedule | None) -> Filter | None:
        """What may run a launch compiled; None where somebody asks for more than it tells."""
        simulation = self.simulation
        if schedule or simulation.may_wait or simulation.observers or not simulation.detect_races:
            return None
        how = asked_for(simulation.compiled)
        if how == OFF:
            return None
        return Filter(how, simulation.step_budget, counted=simulation.counters)


class _Before:
    """The arrays of a launch as they were before, should somebody ask later who touched what."""

    def __init__(self, launched: _Configured, arguments: tuple[Any, ...]) -> None:
        self.launched = launched
        self.arguments = arguments

    def keep(self) -> bool:
        """Keeps them where a report has touches; returns False where they take too much room."""
        shape = _shape(self.launched.grid, self.launched.block, Resources())
        self.has_touches = self.launched.simulation.counters and shape.lanes <= MAX_LANES_TOUCHED
        if not self.has_touches:
            return True
        if sum(a.nbytes for a in self.arguments if isinstance(a, np.ndarray)) > MAX_BYTES_KEPT:
            return False
        self.arguments = _copies(self.arguments)
        self.program = self.launched.simulation.program
        return True

    def touches(self) -> tuple[Touch, ...]:
        """Returns who touched what, as the interpreter finds it."""
        if not self.has_touches:
            return ()
        simulation, touches = self.launched.simulation, Touches()
        launch.run(
            self.program,
            self.launched.grid,
            self.launched.block,
            _copies(self.arguments),
            (touches,),
            FaultLog(),
            order_seed=simulation.order_seed,
            step_budget=simulation.step_budget,
            dynamic_bytes=self.launched.shared_bytes,
            policy=simulation.policy,
        )
        return tuple(touches.found)


def _copies(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.copy(order="K") if isinstance(a, np.ndarray) else a for a in arguments)


def simulate(
    kernel: Any,
    *,
    raise_on_hazard: bool = False,
    order_seed: int | None = None,
    step_budget: int = STEP_BUDGET,
    policy: str = "puzzle",
    schedule: Schedule | None = None,
    observers: Sequence[Observer] = (),
    counters: bool = True,
    detect_races: bool = True,
    compiled: bool | None = None,
) -> Simulation:
    """Returns a kernel ready to launch on the simulated GPU.

    `simulate(kernel)[grid, block](*args)` runs every thread of every block, changes the arrays in
    place as a GPU would, and returns a Report: hazards, counters, who touched what. Arrays are
    NumPy's, or those of a library that hands out its memory, such as PyTorch's tensors on the CPU.

    Args:
        kernel: a plain function, the result of `cuda.jit`, "file.py:function", or a Kernel.
        raise_on_hazard: raise the first error instead of only reporting it.
        order_seed: shuffles the order in which blocks run.
        step_budget: statements a batch of blocks may execute before it counts as endless.
        policy: "puzzle", the strict one, for kernels that somebody is just learning to write; or
            "foreign", for scripts that run on a GPU as they are: negative indices count from the
            end as Numba compiles them, which is advice, as is several threads storing one same
            value, a fence missing after an atomic, or a barrier that returned threads leave out.
        schedule: splits the launch into warps or threads that take turns, and says who is next;
            see `simt.machine.schedule`. By default a launch does so only where threads wait for
            each other.
        observers: told of everything that happens, beside the simulator's own; a launch whose
            threads wait for each other may begin anew, with another `begin`.
        counters: False leaves the report without counters and touches, for hazards alone.
        detect_races: False looks for no races and counts nothing: the quickest way to what the
            arrays hold at the end, and one that no number of races ends early.
        compiled: whether a launch may run as machine code, which tells the same sooner: None where
            an estimate says that it pays; True wherever it is possible; False never. Where it is
            None, the environment variable SIMT_COMPILED may say "always" or "off".

    Raises:
        KernelRefused: the kernel uses what Numba would not compile, or the simulator does not know.
        UserError: no such kernel, arguments no kernel can take, or a launch that is too large
            for the simulator.
        HazardError: with `raise_on_hazard`, the first hazard of severity "error".

    >>> import numpy as np
    >>> out, a = np.zeros(8), np.arange(8.0)
    >>> def add_ten(out, a):
    ...     i = cuda.grid(1)
    ...     out[i] = a[i] + 10
    >>> report = simulate(add_ten)[1, 8](out, a)  # doctest: +SKIP
    """
    return Simulation(
        kernel,
        raise_on_hazard=raise_on_hazard,
        order_seed=order_seed,
        step_budget=step_budget,
        policy=policy,
        schedule=schedule,
        observers=observers,
        counters=counters,
        detect_races=detect_races,
        compiled=compiled,
    )


def _kernel(kernel: Any) -> source.Kernel:
    if isinstance(kernel, source.Kernel):
        return kernel
    if not isinstance(kernel, str):
        return source.from_function(kernel)
    path, _, name = kernel.rpartition(":")
    if not path:
        raise UserError(f'"{kernel}" names no kernel', 'write "file.py:function"')
    module = source.load(path)
    try:
        return module.kernel(name)
    except KeyError:
        found = ", ".join(module.functions) or "no function at all"
        raise UserError(f"{module.file} has no function {name}", f"it has {found}") from None


def _shape(grid: Dim3, block: Dim3, used: Resources) -> LaunchShape:
    blocks = grid[0] * grid[1] * grid[2]
    threads = block[0] * block[1] * block[2]
    return LaunchShape(
        grid,
        block,
        warps=blocks * -(-threads // 32),
        lanes=blocks * threads,
        shared_bytes=used.shared_bytes,
        indexed_bytes=used.indexed.bytes,
        indexed_lines=used.indexed.lines,
    )


_COUNTED_AS = {"fma": "fma", "float64_comparison": "float64_comparisons"}
"""What lanes do -> the counter of it, where its name is not that of operations."""


class _Seen:
    """What a launch leaves behind, for its report.

    Args:
        faults: what went wrong.
        watch: who has watched it.
        by_line: what was counted.
        printed: what it printed.
        touches: finds who touched what; by default those that were watched.
    """

    def __init__(
        self,
        faults: FaultLog,
        watch: _Watch,
        by_line: dict[int, Counters],
        printed: str = "",
        touches: Callable[[], tuple[Touch, ...]] | None = None,
    ) -> None:
        self.faults = faults
        self.resources = watch.resources
        self.by_line = by_line
        self.printed = printed
        self.touches = tuple(watch.touches.found) if touches is None else touches


class _Watch:
    """The observers of one launch, and what they counted put together."""

    def __init__(self) -> None:
        self.coalescing = Coalescing()
        self.banks = Banks()
        self.barriers = Barriers()
        self.divergence = Divergence()
        self.precision = Precision()
        self.idling = Idling()
        self.wide_loads = WideLoads()
        self.touches = Touches()
        self.races = Races()
        self.resources = Resources()

    def all(self) -> tuple[Observer, ...]:
        return tuple(vars(self).values())

    def by_line(self) -> dict[int, Counters]:
        fields: dict[int, dict[str, Any]] = defaultdict(dict)
        for (line, kind), counted in self.coalescing.by_line.items():
            fields[line][kind] = counted
        for (line, kind), in_banks in self.banks.shared.items():
            fields[line][f"shared_{kind}"] = in_banks
        for (line, kind), count in self.banks.local.items():
            fields[line][f"local_{kind}"] = count
        for (line, width), count in self.precision.by_line.items():
            fields[line][_COUNTED_AS.get(width, f"{width}_operations")] = count
        for name, counts in (
            ("branches", self.divergence.branches),
            ("divergent_branches", self.divergence.divergent),
            ("barriers", self.barriers.by_line),
            ("shuffles", self.barriers.shuffles),
            ("atomic_updates", self.coalescing.updates),
            ("shared_updates", self.banks.updates),
            ("idle_loads", self.idling.by_line),
            ("wide_loads", self.wide_loads.by_line),
        ):
            for line, count in counts.items():
                fields[line][name] = count
        return {line: Counters(**fields[line]) for line in sorted(fields)}
