"""A launch stepped through by hand: the line, the lanes over time, what they hold and touch."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import ipywidgets

from gpu_course.draw.paper.ink import svg_html
from gpu_course.draw.paper.palette import WIDEST
from gpu_course.draw.steps.parts import View
from gpu_course.draw.steps.picture import step_svg
from gpu_course.draw.steps.step_texts import describe_step, list_steps, of_warps, warp_text
from gpu_course.errors import CourseError
from gpu_course.notebook.note import Note, trouble
from gpu_course.notebook.panel import html_panel
from simt.report import Recording
from simt.stepping import Recordable, record

PLAY_MS = 900
MAX_PICTURES = 512
NO_COSTS = View(costs=False)
"""Sectors, banks and wavefronts are shown to those who ask for them."""


class Stepper(ipywidgets.VBox):
    """A recording with a slider, buttons to step and play, and a menu of warps.

    Args:
        recording: what to step through.
        warps: those shown at first, together in one picture.
        start: the step shown at first.
        story: lines above the picture, or "".
        view: what of a step is shown.
    """

    def __init__(
        self,
        recording: Recording,
        warps: Sequence[int],
        start: int = 0,
        story: str = "",
        view: View = NO_COSTS,
    ) -> None:
        self.recording = recording
        self.view = view
        self.story = story
        self.start = start
        self._picture = functools.lru_cache(MAX_PICTURES)(self._draw)
        choices = [tuple(warps), *((w,) for w in recording.warps if (w,) != tuple(warps))]
        names = [" and ".join(warp_text(recording, w) for w in ws) for ws in choices]
        # A browser cuts what a menu cannot show: so many letters, and the arrow beside them.
        wide = max(map(len, names)) * 0.55 + 12
        self.menu = ipywidgets.Dropdown(
            options=list(zip(names, choices, strict=True)),
            description="show",
            tooltip="the warp to follow",
            layout=ipywidgets.Layout(width=f"{max(20, round(wide))}em", max_width="98%"),
        )
        last = len(recording.track(warps)) - 1
        self.slider = ipywidgets.IntSlider(
            start,
            0,
            last,
            description="step",
            tooltip="step",
            continuous_update=True,
            readout=False,
        )
        self.play = ipywidgets.Play(value=start, min=0, max=last, interval=PLAY_MS)
        self.back = _button("◀", "one step back")
        self.on = _button("step ▶", "one step on")
        self.panel = html_panel()
        self.slider.observe(self._redraw, names="value")
        self.menu.observe(self._rechoose, names="value")
        self.back.on_click(lambda _: self._move(-1))
        self.on.on_click(lambda _: self._move(+1))
        ipywidgets.jslink((self.play, "value"), (self.slider, "value"))
        wrap = ipywidgets.Layout(flex_flow="row wrap")
        row = ipywidgets.HBox([self.play, self.back, self.on, self.slider], layout=wrap)
        rows = [row, self.menu] if len(choices) > 1 else [row]
        told = [html_panel(Note(story)._repr_html_())] if story else []
        super().__init__([*told, *rows, self.panel])
        self._redraw()
        telling = self._picture(self.warps, self._telling())
        self._first = repr(self), "".join(t.value for t in told) + telling

    @property
    def warps(self) -> tuple[int, ...]:
        """The warps in the picture."""
        chosen: tuple[int, ...] = self.menu.value
        return chosen

    def __repr__(self) -> str:
        near = self.start if self.story else None
        steps = list_steps(self.recording, self.warps, near)
        return f"{self.story}\n\n{steps}" if self.story else steps

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        # A stored notebook has no widgets behind it: one telling picture stands in for them.
        bundle = dict(super()._repr_mimebundle_(**kwargs) or {})
        bundle["text/plain"], bundle["text/html"] = self._first
        return bundle

    def _telling(self) -> int:
        """The step that says most by itself: a hazard strikes, or else memory is touched."""
        if self.story:
            return self.start
        steps = [self.recording.steps[k] for k in self.recording.track(self.warps)]
        for number, step in enumerate(steps):
            if any(of_warps(self.recording, t, self.warps).size for _, t in step.struck):
                return number
        return next((n for n, step in enumerate(steps) if step.accesses), 0)

    def _draw(self, warps: tuple[int, ...], number: int) -> str:
        words = describe_step(self.recording, number, warps, costs=self.view.costs)
        return svg_html(step_svg(self.recording, number, warps, self.view), words, WIDEST)

    def _redraw(self, change: Any = None) -> None:
        try:
            self.panel.value = self._picture(self.warps, self.slider.value)
        except Exception as error:
            # An error inside a callback would vanish into a log nobody reads.
            self.panel.value = trouble(error)._repr_html_()

    def _rechoose(self, change: Any = None) -> None:
        last = len(self.recording.track(self.warps)) - 1
        self.slider.max = self.play.max = last
        self._redraw()

    def _move(self, by: int) -> None:
        self.slider.value = min(max(self.slider.value + by, 0), self.slider.max)


class StepThrough:
    """A kernel ready to be launched and stepped through: `step_through(kernel)[grid, block](...)`.

    Args:
        made: the kernel, ready to record.
        warp: which warps of the block to show first; `block` is its linear number.
    """

    def __init__(
        self, made: Recordable, block: int, warp: tuple[int, ...], view: View = NO_COSTS
    ) -> None:
        self.made = made
        self.view = view
        self.block = block
        self.warp = warp

    def __getitem__(self, configuration: Any) -> Any:
        launch = self.made[configuration]

        def step_through_launch(*arguments: Any) -> Stepper | Note:
            try:
                recording = launch(*arguments)
                return Stepper(recording, self._warps(recording), view=self.view)
            except CourseError as error:
                return trouble(error)

        return step_through_launch

    def _warps(self, recording: Recording) -> tuple[int, ...]:
        per_block = recording.warps_per_block
        chosen = tuple(self.block * per_block + w for w in self.warp)
        for own, warp in zip(self.warp, chosen, strict=True):
            if not 0 <= own < per_block or warp not in recording.warps:
                raise CourseError(
                    f"block {self.block} has no warp {own}", f"its warps are 0 to {per_block - 1}"
                )
        if not recording.track(chosen):
            raise CourseError("these warps took no step", "choose another warp")
        return chosen


def step_through(
    kernel: Any,
    watch: Sequence[str] = (),
    *,
    block: int = 0,
    warp: int | tuple[int, ...] = 0,
    costs: bool = False,
) -> StepThrough:
    """Returns a kernel ready to launch; the launch returns a widget to step through it.

    `step_through(kernel)[grid, block](*args)` runs the kernel as `simulate` does, changes the
    arrays in place, and shows one statement after the other: its line, the lanes that carry it out,
    what they touch and hold, and the hazard where it strikes.

    Args:
        kernel: as for `simulate`.
        watch: variables and arrays to show; none shows the first local variables.
        block: the linear number of the block to show first.
        warp: the warp of that block to show first, or several to show side by side.
        costs: True to show the sectors and banks of each access, too.

    Raises:
        KernelRefused: the kernel cannot be compiled.
        CourseError: a name to watch that the kernel does not have.
    """
    warps = (warp,) if isinstance(warp, int) else tuple(warp)
    return StepThrough(record(kernel, watch, block=block), block, warps, View(costs=costs))


def _button(text: str, tooltip: str) -> ipywidgets.Button:
    layout = ipywidgets.Layout(width="6em" if len(text) > 1 else "3em")
    return ipywidgets.Button(description=text, tooltip=tooltip, layout=layout)
