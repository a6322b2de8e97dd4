"""From a solution to the stub a learner edits: what stands between the markers is taken out."""

from __future__ import annotations

import ast
import io
import json
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from authoring.checkout import AuthoringError, read, solution_files

OPEN = "# answer"
CLOSE = "# end answer"
BROKEN = "# stub:"
"""Begins a line of broken code that the stub holds in the answer's place."""


@dataclass(frozen=True)
class Region:
    """One answer region: its marker lines counted from 0, their indentation, its code lines.

    `broken` is the code to be mended that the stub holds in its place, or nothing.
    """

    first: int
    last: int
    indent: str
    code_lines: int
    broken: tuple[str, ...] = ()


def stub_text(solution: str, file: str = "solution") -> str:
    """Returns the stub of a solution: each answer region replaced by a comment.

    Where a region was all that its block held, a `pass` keeps the block whole. A region whose lines
    include comments `# stub: ...` is replaced by what these say: code to be mended.

    Args:
        solution: the text of the solution, with marker lines around each region.
        file: how messages call the file.

    Raises:
        AuthoringError: markers that do not pair up, are nested or hold no code, a solution without
            a region, or a stub that would not be Python any more.

    >>> print(stub_text("def two():\\n    # answer\\n    return 2\\n    # end answer\\n"), end="")
    def two():
        # your code here (about 1 line)
        pass
    >>> print(stub_text("# answer\\n# stub: x = 1\\nx = 2\\n# end answer\\n"), end="")
    # mend what follows
    x = 1
    """
    _check_solution(solution, file)
    lines = _lines(solution)
    regions = answer_regions(solution, file)
    needs_pass = [True] * len(regions)
    text = _without(lines, regions, needs_pass)
    _check_parses(text, lines, regions, file)
    # A `pass` is dropped wherever the block still stands without it: Python itself is the judge.
    for number in range(len(regions)):
        needs_pass[number] = False
        if not _is_python(_without(lines, regions, needs_pass)):
            needs_pass[number] = True
    stub = _without(lines, regions, needs_pass)
    if ast.dump(ast.parse(stub)) == ast.dump(ast.parse(solution)):
        raise AuthoringError(
            "the stub would be the same program as the solution",
            file=file,
            line=regions[0].first + 1,
            hint="put the lines a learner has to find between the markers",
        )
    return stub


def answer_regions(solution: str, file: str = "solution") -> tuple[Region, ...]:
    """Returns the answer regions of a solution, from top to bottom.

    Raises:
        AuthoringError: markers that do not pair up, are nested or hold no code, or no marker.
    """
    lines = _lines(solution)
    regions: list[Region] = []
    opened: int | None = None
    for number, text in _marker_comments(solution):
        if text == OPEN and opened is not None:
            raise AuthoringError(
                f"`{OPEN}` inside the region that line {opened + 1} opened",
                file=file,
                line=number + 1,
                hint=f"close a region with `{CLOSE}` before the next one begins",
            )
        if text == CLOSE and opened is None:
            raise AuthoringError(
                f"`{CLOSE}` closes no region",
                file=file,
                line=number + 1,
                hint=f"write `{OPEN}` on a line of its own where the answer begins",
            )
        if text == OPEN:
            opened = number
        else:
            assert opened is not None
            regions.append(_region(lines, opened, number, file))
            opened = None
    if opened is not None:
        raise AuthoringError(
            f"`{OPEN}` opens a region that nothing closes",
            file=file,
            line=opened + 1,
            hint=f"write `{CLOSE}` on a line of its own where the answer ends",
        )
    if not regions:
        raise AuthoringError(
            "the solution marks no answer",
            file=file,
            hint=f"write `{OPEN}` and `{CLOSE}` around the lines a learner has to find",
        )
    return tuple(regions)


def answer_lines(solution: str, file: str = "solution") -> tuple[str, ...]:
    """Returns the code lines of all answer regions, stripped, without blanks and comments."""
    lines = _lines(solution)
    return tuple(
        line.strip()
        for region in answer_regions(solution, file)
        for line in lines[region.first + 1 : region.last]
        if _is_code(line)
    )


def build_stubs(root: Path) -> dict[str, str]:
    """Returns {full puzzle name: stub text} for every solution of a checkout, sorted by name."""
    return {
        name: stub_text(read(path), path.relative_to(root).as_posix())
        for name, path in solution_files(root).items()
    }


def stubs_json(stubs: Mapping[str, str]) -> str:
    """Returns the text of stubs.json: sorted, one stub per line, a newline at the end."""
    return json.dumps(dict(sorted(stubs.items())), indent=2, ensure_ascii=False) + "\n"


def _lines(text: str) -> list[str]:
    """Returns the lines as Python's tokenizer counts them (a form feed ends none)."""
    return text.removesuffix("\n").split("\n")


def _marker_comments(solution: str) -> list[tuple[int, str]]:
    """Returns (line from 0, marker): real comments alone on their line, not text in a string."""
    tokens = tokenize.generate_tokens(io.StringIO(solution).readline)
    return [
        (token.start[0] - 1, token.string.rstrip())
        for token in tokens
        if token.type == tokenize.COMMENT
        and token.string.rstrip() in (OPEN, CLOSE)
        and token.line.strip() == token.string.strip()
    ]


def _region(lines: list[str], first: int, last: int, file: str) -> Region:
    indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    inside = lines[first + 1 : last]
    if lines[last] != indent + CLOSE:
        raise AuthoringError(
            f"`{CLOSE}` is not indented like the `{OPEN}` of line {first + 1}",
            file=file,
            line=last + 1,
            hint="indent both markers like the code between them",
        )
    for offset, line in enumerate(inside):
        if line.strip() and not line.startswith(indent):
            raise AuthoringError(
                "a line of the region is indented less than its markers",
                file=file,
                line=first + offset + 2,
                hint="a region holds whole statements of one block",
            )
    code_lines = sum(map(_is_code, inside))
    if not code_lines:
        raise AuthoringError(
            "the answer region holds no code",
            file=file,
            line=first + 1,
            hint="put the lines a learner has to find between the markers",
        )
    return Region(first, last, indent, code_lines, _broken(inside, indent))


def _broken(inside: list[str], indent: str) -> tuple[str, ...]:
    """Returns the code of the `# stub:` comments, indented like the region."""
    marked = (line.strip() for line in inside)
    code = (
        text.removeprefix(BROKEN).removeprefix(" ") for text in marked if text.startswith(BROKEN)
    )
    return tuple((indent + text).rstrip() for text in code)


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.strip().startswith("#")


def _without(lines: list[str], regions: tuple[Region, ...], needs_pass: list[bool]) -> str:
    out: list[str] = []
    at = 0
    for region, keep in zip(regions, needs_pass, strict=True):
        out += lines[at : region.first]
        if region.broken:
            out += [f"{region.indent}# mend what follows", *region.broken]
        else:
            unit = "line" if region.code_lines == 1 else "lines"
            out.append(f"{region.indent}# your code here (about {region.code_lines} {unit})")
        if keep:
            out.append(f"{region.indent}pass")
        at = region.last + 1
    return "\n".join(out + lines[at:]) + "\n"


def _check_parses(text: str, lines: list[str], regions: tuple[Region, ...], file: str) -> None:
    if _is_python(text):
        return
    for number, region in enumerate(regions):
        alone = _without(lines, regions[number : number + 1], [True])
        if not _is_python(alone):
            raise AuthoringError(
                "without this region the module is not valid Python any more",
                file=file,
                line=region.first + 1,
                hint="a region holds whole statements of one block, with all that is inside them",
            )
    raise AuthoringError(
        "without its regions the module is not valid Python any more",
        file=file,
        line=regions[0].first + 1,
        hint="a region holds whole statements of one block, with all that is inside them",
    )


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _check_solution(text: str, file: str) -> None:
    try:
        ast.parse(text)
    except SyntaxError as error:
        raise AuthoringError(
            f"the solution is not valid Python: {error.msg}", file=file, line=error.lineno or 0
        ) from None
    if not text.endswith("\n") or text.endswith("\n\n"):
        raise AuthoringError(
            "the solution does not end with one newline",
            file=file,
            line=len(_lines(text)),
            hint="end the file with a single newline, so that its notebook cell can hold it whole",
        )
