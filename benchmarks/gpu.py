"""All that the course wants to know of a real GPU, in under ten minutes: `make gpu`.

    python -m benchmarks.gpu [--only PART ...] [--seconds N] [--records FOLDER]

The parts (`card/gpu_parts.py`) come in order of worth, and kernels that may hang it come last.
What is found goes to benchmarks/records/GPU/PART.json after every item, so whatever happens next,
it is kept. Items run one after the other in a process of their own, with a deadline for each: one
that crashes or hangs is a finding, and the next gets a fresh process.

It needs Python, NumPy, Numba with numba-cuda or numba_cuda_mlir, hypothesis and pytest; no network
and nothing of JupyterLab. Without greenlet, kernels whose threads wait are held against what is
known of their results and not against the simulator. Exit status: 0 when all is as it should be, 1
when something is not, 2 when there is no GPU to ask.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.card.gpu_parts import Item, Part, parts
from gpu_course.grading.card import bench, targets
from gpu_course.hardware import nvml, records
from gpu_course.hardware.apart import Apart, JobOutcome
from gpu_course.hardware.run import why_no_gpu

ROOT = Path(__file__).parents[1]
MAX_SECONDS = 590.0
DEVICE_S = 60.0
LOST = 4
"""So many items in a row that crash or hang mean that the card answers no more."""

RIGHT, SOME_ARE_NOT, NO_GPU = 0, 1, 2


@dataclass
class Session:
    """One run on a GPU.

    Attributes:
        device: what is known of the card.
        root: the folder of all records.
        most_s: seconds the whole run may take.
        clock: seconds since any moment; tests hand in their own.
        say: prints a line.
    """

    device: dict[str, Any]
    root: Path
    most_s: float = MAX_SECONDS
    clock: Callable[[], float] = time.monotonic
    say: Callable[[str], None] = print
    wrong: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._start = self.clock()
        self._lost = 0
        self._versions, self._commit = records.versions(), _commit()

    def run(self, chosen: Sequence[Part]) -> int:
        """Runs parts in order and returns the exit status."""
        for part in chosen:
            try:
                self._part(part)
            except Exception as error:  # a part that fails takes no other with it
                self.unfinished.append(part.name)
                self.say(f"{part.name}: ended by {type(error).__name__}: {error}")
        self.say(self._summary())
        return SOME_ARE_NOT if self.wrong or self.unfinished else RIGHT

    def _part(self, part: Part) -> None:
        found: dict[str, dict[str, Any]] = {}
        until = min(part.until_s, self.most_s)
        left: tuple[Item, ...] = part.items
        workers: dict[str, Apart] = {}
        try:
            while left and self._gone() < until and self._lost < LOST:
                item, *rest = left
                left = tuple(rest)
                worker = workers.setdefault(item.target, Apart(item.target))
                deadline = min(item.deadline_s, max(1.0, self.most_s - self._gone()))
                outcome = worker.run(dict(item.job), deadline)
                if outcome.state == "hang" and deadline < item.deadline_s:
                    left = (item, *left)  # the run's time was up, and that says nothing of the item
                    break
                entry = self._entry(item, outcome)
                for name, inner in entry.pop("items", {}).items():
                    found[name] = inner
                found[item.name] = entry
                self._judge(part, item, entry)
                self._write(part, found, finished=not left)
        finally:
            for worker in workers.values():
                worker.end()
        self._close(part, found, len(left))

    def _entry(self, item: Item, outcome: JobOutcome) -> dict[str, Any]:
        if outcome.state == "done":
            return {**outcome.value, "took_s": round(outcome.seconds, 3)}
        gave_up = outcome.said.startswith("GaveUp: ")
        return {
            "state": "gave-up" if gave_up else outcome.state,
            "said": outcome.said.removeprefix("GaveUp: "),
            "took_s": round(outcome.seconds, 3),
        }

    def _judge(self, part: Part, item: Item, entry: dict[str, Any]) -> None:
        if entry["state"] not in ("crash", "hang"):
            self._lost = 0
        elif item.right or entry["state"] == "crash":  # a fault may hang, and the card be well
            self._lost += 1
        if item.right and entry["state"] not in item.right:
            self.wrong.append(f"{part.name}: {item.name}")
            self.say(f"  {item.name}: {entry['state']}: {entry.get('said', '')}".rstrip(": "))

    def _write(self, part: Part, found: dict[str, dict[str, Any]], *, finished: bool) -> None:
        made = records.Record(
            gpu=records.gpu_key(self.device["name"]),
            part=part.name,
            device=self.device,
            versions=self._versions,
            date=records.today(),
            commit=self._commit,
            finished=finished,
            items=found,
        )
        records.write(made, self.root)

    def _close(self, part: Part, found: dict[str, dict[str, Any]], left: int) -> None:
        states: dict[str, int] = {}
        for entry in found.values():
            states[entry["state"]] = states.get(entry["state"], 0) + 1
        told = ", ".join(f"{count} {state}" for state, count in states.items()) or "nothing"
        if left:
            self.unfinished.append(part.name)
            why = "the GPU answers no more" if self._lost >= LOST else "no time was left"
            told += f"; {left} not reached, because {why}"
        self.say(f"{part.name}: {told} ({part.about}; {self._gone():.0f} s)")

    def _gone(self) -> float:
        return self.clock() - self._start

    def _summary(self) -> str:
        where = self.root / records.gpu_key(self.device["name"])
        told = f"Records: {where}."
        if self.wrong:
            told += f" Not as it should be: {len(self.wrong)}, {', '.join(self.wrong[:6])}"
            told += " and more." if len(self.wrong) > 6 else "."
        if self.unfinished:
            told += f" Not finished: {', '.join(self.unfinished)}."
        return told


def device() -> dict[str, Any] | str:
    """Returns what is known of the card, or the sentence that says why nothing is."""
    with Apart(bench.TARGET) as worker:
        outcome = worker.run({"kind": "device"}, DEVICE_S)
    if outcome.state != "done":
        return f"the GPU does not answer: {outcome.said}"
    found = {key: value for key, value in outcome.value.items() if key != "state"}
    return {**found, **nvml.facts_of(found["name"])}


def _commit() -> str | None:
    git = shutil.which("git")
    if git is None:
        return None
    command = [git, "-C", str(ROOT), "rev-parse", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() or None if done.returncode == 0 else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the parts asked for; see the top of this file for the exit status."""
    names = [part.name for part in parts()]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--only", nargs="+", choices=names, metavar="PART", help=", ".join(names))
    parser.add_argument("--seconds", type=float, default=MAX_SECONDS, help="the whole run's limit")
    parser.add_argument("--records", type=Path, default=records.folder(), metavar="FOLDER")
    asked = parser.parse_args(arguments)
    reason = why_no_gpu()
    found: dict[str, Any] | str = {}
    if not reason:
        found = device()
        reason = found if isinstance(found, str) else ""
    if reason:
        print(f"There is no GPU to measure on ({reason}); nothing was written.", file=sys.stderr)
        return NO_GPU
    assert isinstance(found, dict)
    chosen = [part for part in parts() if not asked.only or part.name in asked.only]
    print(f"{found['name']}, driver {found['driver'] or 'unknown'}")
    status = Session(found, asked.records, asked.seconds).run(chosen)
    if any(part.name == "timings" for part in chosen):
        print(*target_lines(found["name"], asked.records), sep="\n")
    return status


def target_lines(card: str, root: Path) -> list[str]:
    """Returns a line for each kernel with a target: what it reached of it on a card."""
    rows = targets.rows(targets.standings(lambda name: records.timing(name, card, root)))
    return [
        f"target {target} ({kind}), {puzzle}: {' '.join(filter(None, (reached, state)))}"
        for puzzle, kind, target, reached, state in rows
    ]


if __name__ == "__main__":
    sys.exit(main())
