"""Rounds of computing alone and one exchange: how much of the time is spent computing."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_course.units import GB


@dataclass(frozen=True)
class Islands:
    """Places that train one model over slow links.

    Attributes:
        billion_parameters: of the model.
        number_bytes: sent for each parameter in an exchange.
        step_s: seconds that a step computes.
        h: steps of a round.
        link_gb_per_s: what an island sends, in GB/s.
        islands: how many.
    """

    billion_parameters: float
    number_bytes: float
    step_s: float
    h: int
    link_gb_per_s: float
    islands: int = 2

    @property
    def sent_bytes(self) -> float:
        """What each island sends in a round, as in a ring."""
        whole = self.billion_parameters * 1e9 * self.number_bytes
        return 2 * (self.islands - 1) / self.islands * whole

    @property
    def exchange_s(self) -> float:
        """How long a round's exchange takes, by bytes alone."""
        return self.sent_bytes / (self.link_gb_per_s * GB)

    @property
    def computing_s(self) -> float:
        """How long a round computes."""
        return self.h * self.step_s

    @property
    def utilisation(self) -> float:
        """The share of the time that is spent computing; nothing is sent meanwhile."""
        return self.computing_s / (self.computing_s + self.exchange_s)


def link_of(billion_parameters: float, number_bytes: float, islands: int, seconds: float) -> float:
    """Returns the GB/s that each island sends when an exchange takes so long.

    Args:
        billion_parameters, number_bytes, islands: as in `Islands`.
        seconds: of the exchange.

    >>> round(link_of(10, 1, 14, 100), 3)
    0.186
    """
    sent = 2 * (islands - 1) / islands * billion_parameters * 1e9 * number_bytes
    return sent / seconds / GB
