"""Parts of hand-written pages that are generated: they stand between two comments."""

from __future__ import annotations

from authoring.checkout import AuthoringError


def part_of(text: str, name: str, file: str) -> str:
    """Returns what stands between `<!-- name -->` and `<!-- end name -->`.

    Args:
        text: of the page.
        name: of the part.
        file: the page's name, for messages.

    Raises:
        AuthoringError: the page has no place for the part.
    """
    begin, end = _borders(text, name, file)
    return text[begin:end].strip("\n")


def with_part(text: str, name: str, part: str, file: str) -> str:
    """Returns the page with another text in that place."""
    begin, end = _borders(text, name, file)
    return f"{text[:begin]}\n{part}\n{text[end:]}"


def _borders(text: str, name: str, file: str) -> tuple[int, int]:
    first, last = f"<!-- {name} -->", f"<!-- end {name} -->"
    begin, end = text.find(first), text.find(last)
    if begin < 0 or end < begin:
        raise AuthoringError(
            f"{file} has no place for its {name}",
            file=file,
            hint=f"write {first} and {last}, each alone on a line",
        )
    return begin + len(first), end
