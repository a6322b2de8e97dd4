"""What the threads of a launch print, and not without end."""

from __future__ import annotations

MOST_LINES = 1000
MOST_LETTERS = 2000


class Printout:
    """What the threads of a launch have printed."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.left_out = 0

    def add(self, line: str) -> None:
        """Keeps a line, as long as there is room."""
        if len(self.lines) < MOST_LINES:
            self.lines.append(line if len(line) <= MOST_LETTERS else line[:MOST_LETTERS] + " ...")
        else:
            self.left_out += 1

    def text(self) -> str:
        """Returns all lines, and how many more there were."""
        more = [f"... and {self.left_out:,} more lines"] if self.left_out else []
        return "".join(f"{line}\n" for line in [*self.lines, *more])
