"""Widgets that are moved by setting their values, as a front end would."""

from __future__ import annotations

import ipywidgets
import pytest

from gpu_course.draw import draw_launch_grid, draw_touches
from gpu_course.errors import CourseError
from gpu_course.notebook.interactive.explore import explore, play, rendered
from gpu_course.notebook.pictures import Picture
from tests.gpu_course.draw import launches


def threads(blocks, block=4, size=None):
    return draw_launch_grid(blocks, block, size)


def test_the_first_picture_is_there_and_moves_with_the_slider():
    panel = explore(threads, blocks=(1, 5), block=(1, 8))
    assert panel.values() == {"blocks": 1, "block": 4}
    first = panel.panel.value
    assert first.startswith("<img alt=") and "1 block, each of 4 threads" in first
    panel.controls["blocks"].value = 3
    assert panel.panel.value != first and "3 blocks, each of 4 threads" in panel.panel.value
    panel.controls["blocks"].value = 1
    assert panel.panel.value == first


def test_no_output_widget_is_used():
    panel = explore(threads, blocks=(1, 5))
    assert [type(child) for child in panel.children] == [ipywidgets.IntSlider, ipywidgets.HTML]


@pytest.mark.parametrize(
    ("how", "kind", "start"),
    [
        ((0, 10), ipywidgets.IntSlider, 0),
        ((0, 10, 5), ipywidgets.IntSlider, 0),
        ((0.0, 1.0), ipywidgets.FloatSlider, 0.0),
        ((0, 1, 0.25), ipywidgets.FloatSlider, 0.0),
        (["x", "y"], ipywidgets.Dropdown, "x"),
        (True, ipywidgets.Checkbox, True),
    ],
)
def test_controls(how, kind, start):
    panel = explore(lambda value: str(value), value=how)
    control = panel.controls["value"]
    assert type(control) is kind and control.value == start
    assert control.description == "value"
    assert str(start) in panel.panel.value


def test_no_label_is_cut_and_all_of_a_panel_begin_at_one_line():
    panel = explore(lambda **_: "", tp=[1, 2], percent_of_time_training=(60, 100))
    wide = {control.style.description_width for control in panel.controls.values()}
    (only,) = wide
    longest = max(len(control.description) for control in panel.controls.values())
    # A letter of JupyterLab's labels is about half an em wide.
    assert float(only.removesuffix("em")) >= 0.55 * longest
    short = explore(lambda **_: "", tp=[1, 2]).controls["tp"]
    assert short.style.description_width == "8em"


def test_a_large_number_is_read_with_separators_and_can_be_typed():
    panel = explore(lambda n=4096: f"n is {n}", n=(64, 16384, 64))
    slider = panel.controls["n"]
    row = panel.children[0]
    assert [type(child) for child in row.children] == [ipywidgets.IntSlider, ipywidgets.Text]
    number = row.children[1]
    assert row.children[0] is slider and slider.readout is False
    assert number.value == "4,096"
    slider.value = 16384
    assert number.value == "16,384" and "n is 16384" in panel.panel.value


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("8192", 8192),
        ("8,192", 8192),
        (" 8 192 ", 8192),
        ("8200", 8192),  # the nearest step
        ("4096", 4096),  # where it stands
        ("99999", 16384),
        ("-5", 64),
        ("0x10", 4096),
        ("many", 4096),
        ("", 4096),
        ("9" * 400, 4096),
    ],
)
def test_what_is_typed_beside_a_slider(typed, value):
    panel = explore(lambda n=4096: f"n is {n}", n=(64, 16384, 64))
    number = panel.children[0].children[1]
    number.value = typed
    assert panel.controls["n"].value == value
    assert number.value == f"{value:,}"
    assert f"n is {value}<" in panel.panel.value


@pytest.mark.parametrize(
    ("how", "shown"),
    [((0.0, 1.0), ".2f"), ((0.0005, 0.05, 0.0005), ".4f"), ((0.5, 4.0, 0.5), ".1f")],
)
def test_a_float_slider_shows_each_of_its_steps(how, shown):
    assert explore(lambda x: str(x), x=how).controls["x"].readout_format == shown


def test_a_function_s_default_is_where_the_slider_starts():
    assert explore(lambda n=7: str(n), n=(0, 10)).controls["n"].value == 7
    assert explore(lambda n=70: str(n), n=(0, 10)).controls["n"].value == 0
    assert explore(lambda n="y": n, n=["x", "y"]).controls["n"].value == "y"


@pytest.mark.parametrize("how", [(3, 1), (1,), 5, [], "x", (1, 2, 3, 4)])
def test_what_is_no_slider_is_refused_by_name(how):
    with pytest.raises(CourseError, match=r"value=.* describes no slider"):
        explore(lambda value: "", value=how)


def test_errors_are_shown_in_the_panel_and_go_away_again():
    def brittle(n):
        if n == 1:
            raise CourseError("one is <too> few", "take two")
        return str(100 // (n - 2)) if n == 2 else "fine"

    panel = explore(brittle, n=(0, 5))
    panel.controls["n"].value = 1
    assert "one is &lt;too&gt; few" in panel.panel.value and "take two" in panel.panel.value
    panel.controls["n"].value = 2
    assert "ZeroDivisionError" in panel.panel.value
    panel.controls["n"].value = 3
    assert "fine" in panel.panel.value


def test_text_is_escaped_html_and_pictures_are_kept_and_lists_are_stacked():
    class Rich:
        def __repr__(self):
            return "plain"

        def _repr_html_(self):
            return "<b>rich</b>"

    words, content = rendered("a < b")
    assert words == "a < b"
    assert ">a &lt; b</pre>" in content and "monospace" in content
    assert rendered(Rich()) == ("plain", "<b>rich</b>")
    assert rendered(None) == ("", "")
    words, content = rendered(("first", draw_touches(launches.ADD_TEN)))
    assert words.startswith("first\nWho touches what") and "<img" in content


def test_a_picture_is_drawn_as_quickly_as_its_figure_alone_or_in_a_list():
    figure = draw_touches(launches.ADD_TEN)
    quick = rendered(figure)
    assert rendered(Picture(figure)) == quick
    words, content = rendered(["first", Picture(figure)])
    assert words == f"first\n{quick[0]}" and content.endswith(quick[1])
    assert quick[1] != Picture(figure)._repr_html_()


def test_a_stored_notebook_keeps_the_first_picture_and_its_words():
    panel = explore(threads, blocks=(2, 5))
    bundle = panel._repr_mimebundle_()
    panel.controls["blocks"].value = 4
    assert bundle == panel._repr_mimebundle_()
    assert bundle["text/plain"].startswith("threads(blocks=2)\nWho am I: a grid of 2 blocks")
    assert bundle["text/html"].startswith("<img")
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_play_steps_through_frames():
    panel = play(lambda word: word.upper(), ["one", "two", "three"])
    assert "ONE" in panel.panel.value
    panel.controls["step"].value = 2
    assert "THREE" in panel.panel.value
    assert panel.controls["step"].max == 2
    row = panel.children[0]
    assert [type(child) for child in row.children] == [ipywidgets.Play, ipywidgets.IntSlider]
    assert "0" in play(str, 3).panel.value
    with pytest.raises(CourseError, match="no frame"):
        play(str, [])
