"""What a learner said before an answer was shown, kept where the course keeps what it remembers.

A ledger is one entry of state.json: a dict, by the names of the questions. The functions of a
ledger never lose what they do not know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.grading import workspace
from simt.errors import file_problem

TOLD = "told"
"""The key of what says that the answer has been shown."""


@dataclass(frozen=True)
class Ledger:
    """One kind of question, such as all forecasts.

    Args:
        key: of state.json.
        what: what the learner gives, for messages, such as "forecast".
    """

    key: str
    what: str

    def read(self) -> dict[str, dict[str, Any]]:
        """Returns what is kept, by the names of the questions.

        What is of another shape than this course writes is left out.

        Raises:
            CourseError: there is no folder of answers to keep it beside.
            OSError: it cannot be read.
        """
        kept = workspace.read_state().get(self.key)
        if not isinstance(kept, dict):
            return {}
        return {name: given for name, given in kept.items() if isinstance(given, dict)}

    def keep(self, name: str, said: dict[str, Any]) -> None:
        """Keeps what was said, in place of anything earlier, until the answer has been shown.

        Raises:
            CourseError: there is no folder to keep it in.
            OSError: it cannot be written.
        """
        self._change(name, lambda mine: mine | ({} if mine.get(TOLD) is True else said))

    def tell(self, name: str) -> None:
        """Notes that the answer has been shown.

        Raises:
            CourseError: there is no folder to keep it in.
            OSError: it cannot be written.
        """
        if self.read().get(name, {}).get(TOLD) is not True:
            self._change(name, lambda mine: mine | {TOLD: True})

    def _change(self, name: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        def on_state(state: dict[str, Any]) -> None:
            kept = state.get(self.key)
            if kept is not None and not isinstance(kept, dict):
                # Of another shape than this course writes: kept as it is, under another name.
                state[f"{self.key}-unreadable"] = kept
                kept = {}
            kept = dict(kept or {})
            mine = kept.get(name)
            kept[name] = change(mine if isinstance(mine, dict) else {})
            state[self.key] = kept

        workspace.update_state(on_state)

    def with_trouble(self, action: Callable[[], Any]) -> tuple[Any, str]:
        """Returns (what an action on the ledger gave, what went wrong with it: "" for nothing).

        What a learner says is never in the way of a broken file: where nothing can be read or kept,
        the first is None and the second says why. A state file that was unreadable, and was set
        aside, is told as well.
        """
        before = _set_aside()
        try:
            given = action()
        except CourseError as error:
            return None, f"Your {self.what} is not kept: {error}"
        except OSError as error:
            return None, f"Your {self.what} is not kept: {file_problem(error, done='used')}"
        fresh = sorted(_set_aside() - before)
        if fresh:
            return given, (
                f"What the course remembered could not be read. It is kept as {fresh[-1].name}, "
                "and begun afresh."
            )
        return given, ""


def _set_aside() -> frozenset[Path]:
    try:
        return frozenset(workspace.set_aside())
    except (CourseError, OSError):
        return frozenset()
