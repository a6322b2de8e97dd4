"""What `gpu-course watch` knows and does: keys and checks go in, what to show comes out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from gpu_course.app.terminal.keys import END
from gpu_course.app.terminal.survey import Survey
from gpu_course.errors import CourseError
from gpu_course.grading import workspace
from gpu_course.grading.learner.hints import Hint, next_hint
from gpu_course.grading.learner.loop import Finished, Loop, Started, Stopped
from gpu_course.grading.learner.solution import SolutionDiff, compare_with_solution
from gpu_course.grading.verdicts.sections import Section
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.grading.worker import Worker
from gpu_course.puzzle import Puzzle, index

SLOW_S = 0.3
"""Only a check that takes longer is worth a word of its own."""


class Session:
    """One learner, one puzzle at a time.

    Args:
        name: the puzzle to begin with; default the first that is not passed.
        make_worker: returns a Worker.
        clock: seconds that only go forward.

    Attributes:
        puzzle: the current puzzle; None while the first is being looked for.
        verdict: the last on it, `stopped` what is said where a check ended without one.
        hint: the hint shown last, `notice` a line on what a key did, or the error that kept it from
            that, `question` what y or n answer.
        view: "puzzle", "list" or "solution"; `solution` what the last shows.
        statuses: full name -> status of every puzzle known so far.
        won: the full names of those that passed at any time.
        done: True when it is over.

    Raises:
        UnknownName: no puzzle is called that.
        CourseError: there is no folder of answers.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        make_worker: Callable[[], Worker] = Worker,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.puzzle: Puzzle | None = None
        self.verdict: Verdict | None = None
        self.stopped: tuple[Section, ...] = ()
        self.hint: Hint | None = None
        self.notice: str | CourseError = ""
        self.question = ""
        self.view = "puzzle"
        self.solution: SolutionDiff | None = None
        self.statuses: dict[str, str] = {}
        self.won: frozenset[str] = frozenset()
        self.done = False
        self._make_worker = make_worker
        self._clock = clock
        self._worker: Worker | None = None
        self._loop: Loop | None = None
        self._survey: Survey | None = None
        self._started_at: float | None = None
        self._ending = False
        self._under_way: tuple[bool, tuple[int, int] | None] = (False, None)
        first = index.find(name) if name else None
        self.won = workspace.passes_won()
        if first is not None:
            self._go_to(first)
        else:
            self._begin_survey(index.puzzles(), until_open=True)

    @property
    def searching(self) -> bool:
        """True while the next puzzle is being looked for."""
        return self._survey is not None and self._survey.until_open

    @property
    def surveyed(self) -> tuple[int, int] | None:
        """(checked, of how many) while many puzzles are being checked."""
        return None if self._survey is None else (self._survey.checked, self._survey.total)

    @property
    def checking(self) -> bool:
        """True when a check takes so long that one should say so."""
        started = self._started_at
        return started is not None and self._clock() - started > SLOW_S

    @property
    def passed(self) -> bool:
        """True when the answer on the screen is right."""
        return self.verdict is not None and self.verdict.passed

    @property
    def _awaiting(self) -> bool:
        """True while a verdict on the file as it is may still come."""
        told = self.puzzle is None or self.verdict is not None or bool(self.stopped)
        return self._started_at is not None or not told

    def tick(self) -> bool:
        """Lets files and workers have their turn; True when there is something new to show."""
        news = False
        if self._loop is not None:
            for event in self._loop.step():
                news = self._happened(event) or news
        if self._survey is not None:
            found = self._survey.step()
            self.statuses.update(found)
            if self._survey.done:
                self._end_survey(self._survey)
        if self._ending and self._survey is None and not self._awaiting:
            self.done = True
        under_way = (self.checking, self.surveyed)
        news = news or under_way != self._under_way
        self._under_way = under_way
        return news

    def press(self, key: str) -> None:
        """Does what a key stands for; any other key does nothing."""
        key = key.lower()
        if key == END:
            self._ending = True
        elif self.question:
            self._answer(key)
        elif key in _KEYS:
            self.notice = ""
            _KEYS[key](self)
        elif self.view != "puzzle":
            self.view = "puzzle"

    def close(self) -> None:
        """Ends every process of the session."""
        for worker in (self._worker, self._survey.worker if self._survey else None):
            if worker is not None:
                worker.stop()

    def _happened(self, event: Started | Finished | Stopped) -> bool:
        if isinstance(event, Started):
            self._started_at = self._clock()
            return False
        self._started_at = None
        if isinstance(event, Finished):
            self.verdict, self.stopped = event.outcome.verdict, ()
            self.statuses[self.verdict.name] = self.verdict.status
            if self.verdict.passed:
                # A hint taken on the way has done its work.
                self.hint = None
        else:
            self.verdict, self.stopped = None, event.sections
        if self.view == "solution":
            self.view = "puzzle"
        return True

    def _go_to(self, puzzle: Puzzle) -> None:
        if self._loop is not None:
            self._loop.close()
        self._worker = self._worker or self._make_worker()
        self._loop = Loop(puzzle, self._worker, clock=self._clock)
        self.puzzle, self.verdict, self.hint = puzzle, None, None
        self.stopped, self.view, self._started_at = (), "puzzle", None

    def _begin_survey(self, puzzles: Sequence[Puzzle], until_open: bool = False) -> None:
        if self._survey is not None:
            self._survey.worker.stop()
        worker = self._make_worker()
        self._survey = Survey(puzzles, worker, until_open=until_open, clock=self._clock)

    def _end_survey(self, survey: Survey) -> None:
        self._survey = None
        if self._worker is None and isinstance(survey.worker, Worker):
            self._worker = survey.worker
        else:
            survey.worker.stop()
        if survey.found is not None:
            self._go_to(survey.found)
        elif survey.until_open:
            self.view, self.notice = "list", "Every puzzle is passed."

    def _next(self) -> None:
        if self.searching:
            return
        puzzles = index.puzzles()
        here = puzzles.index(self.puzzle) + 1 if self.puzzle in puzzles else 0
        later = (*puzzles[here:], *puzzles[: max(here - 1, 0)])
        still_open = [p for p in later if self.statuses.get(p.name) != "passed"]
        if still_open:
            self._begin_survey(still_open, until_open=True)
        else:
            self.notice = "Every other puzzle is passed."

    def _hint(self) -> None:
        if self.puzzle is not None:
            self.view = "puzzle"
            self._try(self._take_hint)

    def _take_hint(self) -> None:
        assert self.puzzle is not None
        self.hint = next_hint(self.puzzle.name)

    def _list(self) -> None:
        self.view = "puzzle" if self.view == "list" and self.puzzle else "list"
        unknown = [p for p in index.puzzles() if p.name not in self.statuses]
        if self.view == "list" and unknown and self._survey is None:
            self._begin_survey(unknown)

    def _check_all(self) -> None:
        self.view = "list"
        if not self.searching:
            self.statuses.clear()
            self._begin_survey(index.puzzles())

    def _reset(self) -> None:
        if self.puzzle is not None:
            self.view = "puzzle"
            name = f"{self.puzzle.short_name}.py"
            self.question = f"Put the stub back into {name}? Your answer is backed up first. y/n"

    def _answer(self, key: str) -> None:
        if key == "q":
            self._quit()
        if key not in ("y", "n"):
            return
        self.question = ""
        if key == "y":
            self._try(self._put_stub_back)
        else:
            self.notice = "Nothing was changed."

    def _put_stub_back(self) -> None:
        assert self.puzzle is not None
        before = workspace.backups(self.puzzle.name)
        path = workspace.reset(self.puzzle.name)
        notice = f"{path.name} is the stub again."
        for copy in workspace.backups(self.puzzle.name):
            if copy not in before:
                place = copy.relative_to(workspace.state_folder().parent).as_posix()
                notice += f" Your answer is kept in {place}."
        self.notice = notice
        self.hint = None

    def _show_solution(self) -> None:
        if self.view == "solution":
            self.view = "puzzle"
        elif not self.passed:
            self.notice = "The solution is shown once your answer passes."
        else:
            self._try(self._compare)

    def _compare(self) -> None:
        assert self.puzzle is not None
        self.solution = compare_with_solution(self.puzzle)
        self.view = "solution"

    def _quit(self) -> None:
        self.done = True

    def _try(self, action: Callable[[], None]) -> None:
        try:
            action()
        except CourseError as error:
            self.notice = error
        except OSError as error:
            self.notice = f"that did not work: {error.strerror or error}"


_KEYS: dict[str, Callable[[Session], None]] = {
    "n": Session._next,
    "h": Session._hint,
    "l": Session._list,
    "c": Session._check_all,
    "x": Session._reset,
    "d": Session._show_solution,
    "q": Session._quit,
}
