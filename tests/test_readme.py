"""The README: its code runs, its tables and picture are the course's, its links lead somewhere."""

from __future__ import annotations

import doctest
import re
import shlex
import struct
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import typer.main
from matplotlib.figure import Figure

from authoring.checkout import AuthoringError
from authoring.parts import part_of
from authoring.readme import (
    CELLS,
    KERNEL,
    PICTURE,
    PRODUCTS,
    README,
    ROOFLINE,
    draw_picture,
    draw_products,
    lessons_table,
    picture_tag,
    write_readme,
)
from gpu_course.commands import app
from gpu_course.draw.paper.palette import CSS_PIXELS_PER_INCH
from gpu_course.draw.paper.picture import SHARP, alt_text

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(app).commands
RENEW = "run `python -m authoring readme`"


class AsInANotebook(doctest.OutputChecker):
    """Compares with what the reader sees, for whom the code stands in a notebook cell."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(want, _in_a_notebook(got), optionflags)

    def output_difference(self, example: doctest.Example, got: str, optionflags: int) -> str:
        return super().output_difference(example, _in_a_notebook(got), optionflags)


def _in_a_notebook(got: str) -> str:
    return re.sub(r"<doctest README\.md\[\d+\]>:(\d+)", r"notebook cell, line \1", got)


def run_session(text: str) -> doctest.TestResults:
    session = "\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))
    test = doctest.DocTestParser().get_doctest(session, {}, "README.md", "README.md", 0)
    return doctest.DocTestRunner(AsInANotebook(), verbose=False).run(test)


def test_the_first_kernel_does_what_the_readme_says() -> None:
    result = run_session(TEXT)
    assert result.failed == 0
    assert result.attempted == 11


def test_a_session_that_says_something_else_would_be_seen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_session(TEXT.replace("threads 8..11 of 12", "threads 8..12 of 13")).failed == 1
    assert "notebook cell, line 4" in capsys.readouterr().out


def test_the_right_kernel_has_five_lines() -> None:
    kernels = re.findall(r">>> @cuda\.jit\n(?:\.\.\. .*\n)+", TEXT)
    assert len(kernels[-1].splitlines()) == 5


@pytest.mark.parametrize(
    ("part", "place", "draw"),
    [("picture", PICTURE, draw_picture), ("roofline", ROOFLINE, draw_products)],
)
def test_a_picture_is_of_the_launch_it_speaks_of(
    part: str, place: str, draw: Callable[[Path], Figure]
) -> None:
    figure = draw(ROOT)
    assert part_of(TEXT, part, README) == picture_tag(figure, place), RENEW
    head = (ROOT / place).read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    # Bytes differ with the version of matplotlib; a picture of another launch has another size.
    inches = figure.get_size_inches()
    expected = tuple(int(inch * CSS_PIXELS_PER_INCH * SHARP) for inch in inches)
    assert struct.unpack(">II", head[16:24]) == expected, RENEW


def test_the_alt_text_names_the_threads_out_of_bounds() -> None:
    tag = part_of(TEXT, "picture", README)
    assert "no_guard[1, 12]: 1 block of 12 threads" in tag
    assert tag.count("threads 8 to 11") == 2
    assert CELLS == 8


def test_the_table_holds_the_lessons_there_are() -> None:
    assert part_of(TEXT, "lessons", README) == lessons_table(), RENEW


def test_the_commands_are_those_of_the_command_line() -> None:
    rows = re.findall(r"^\| `gpu-course (\w+)` \| (.+) \|$", TEXT, flags=re.MULTILINE)
    assert rows == [(name, command.help) for name, command in COMMANDS.items()]


def calls_of(text: str) -> list[list[str]]:
    return [shlex.split(call) for call in re.findall(r"gpu-course ([^`\n]+)`", text)]


def test_every_call_and_option_exists() -> None:
    calls = calls_of(TEXT)
    assert len(calls) > len(COMMANDS)
    for name, *words in calls:
        options = {option for each in COMMANDS[name].params for option in each.opts} | {"--help"}
        assert {word for word in words if word.startswith("--")} <= options, (name, words)


def test_links_and_places_exist() -> None:
    prose = re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL)
    links = [link for link in re.findall(r"\]\(([^)]+)\)", prose) if "://" not in link]
    assert len(links) >= 4
    spoken_of = ["puzzles/", "solutions/notebooks/", "notebooks/source/", "gpu_course/lessons/"]
    assert all(f"`{place}`" in TEXT for place in spoken_of)
    for place in [*links, *spoken_of, PICTURE, KERNEL.partition(":")[0]]:
        assert (ROOT / place).exists(), place


def test_what_is_installed_is_what_the_project_says() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for file in re.findall(r"install\.py ?(\S*\.txt)?", TEXT):
        assert (ROOT / (file or "requirements.txt")).is_file()
    assert re.findall(r'-e "\.\[(\w+)\]"', TEXT) == ["compile", "gpu"]
    extras = project["optional-dependencies"]
    assert any(need.startswith("nvidia-cuda-nvdisasm") for need in extras["compile"])
    assert any(need.startswith("numba-cuda[cu13]") for need in extras["gpu"])
    assert project["requires-python"] == ">=3.11,<3.15"
    assert "Python 3.11 to 3.14" in TEXT


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"`make (\w[\w-]*)`", TEXT))
    assert {"lab", "test"} <= named
    assert named <= set(re.findall(r"^([\w-]+):", makefile, flags=re.MULTILINE))


def test_writing_it_again_changes_nothing_else(tmp_path: Path) -> None:
    solutions = [f"solutions/06_matmul/{name}.py" for name in PRODUCTS]
    for place in (KERNEL.partition(":")[0], *solutions):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_bytes((ROOT / place).read_bytes())
    readme = tmp_path / "README.md"
    readme.write_text(TEXT.replace(lessons_table(), "an old table"), encoding="utf-8")
    assert write_readme(tmp_path) == ("README.md", PICTURE, ROOFLINE)
    assert readme.read_text(encoding="utf-8") == TEXT
    assert write_readme(tmp_path) == ()


def test_a_readme_without_a_place_for_a_part_is_refused() -> None:
    with pytest.raises(AuthoringError, match=r"README\.md has no place for its lessons"):
        part_of("nothing here", "lessons", README)


def test_each_product_is_shown_with_and_without_a_cache() -> None:
    """What a kernel asks for bounds no machine that has a cache, so both numbers are told."""
    said = re.findall(
        r"at most ([\d.]+) TFLOP/s without a cache, at best ([\d.]+)", alt_text(draw_products(ROOT))
    )
    assert len(said) == len(PRODUCTS)
    assert all(float(asked) < float(best) for asked, best in said)
