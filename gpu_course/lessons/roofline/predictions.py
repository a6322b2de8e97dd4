"""What lesson 10 says once a guess is made."""

from __future__ import annotations

from gpu_course.puzzle.specification import Sealed

_POWERS = (3, 30, 300, 3000)


def _nearest(ridge: float) -> int:
    """Returns the power of ten among the choices that a ridge is nearest to, as a factor."""
    return min(_POWERS, key=lambda power: max(power / ridge, ridge / power))


PREDICTIONS = {
    "FLOP for each byte that keep the tensor cores of an H100 busy": Sealed(
        "A kernel that does less than that for each byte it moves leaves tensor cores idle, "
        "however well it is written. An addition of two float32 has 12 bytes for one FLOP: it "
        "could use three of every ten thousand FLOP that this card has to give.",
        answer=_nearest,
    ),
    "Degree from which the polynomial is bound by compute": Sealed(
        "Two FLOP for each degree, and 8 bytes for each number whatever the degree. Up to there a "
        "higher degree costs nothing at all on paper: the lanes had nothing else to do. From there "
        "on the roof is flat, and each further degree takes time."
    ),
    "With the tile, the kernel's point moves": Sealed(
        "The FLOP are the same, and each number is asked for once instead of eight times. Below "
        "the slope every step to the right is a higher roof. The dotted line of the first kernel "
        "ends where the second one stands: had a cache answered all repeated loads, the two would "
        "be alike."
    ),
    "What do the hundred small kernels wait for?": Sealed(
        "The GPU has work for a small part of the time. No kernel of these can be made faster by "
        "better use of memory or of lanes; there have to be fewer of them. Fusing does that, and "
        "so does recording a sequence of launches once and starting it as a whole."
    ),
    "With 320 rows, which layer is bound by bandwidth?": Sealed(
        "The batch is above the ridge, and the narrow layer still waits for memory. A side of "
        "1,024 is not endless beside 320: the batch and the result are a good part of its bytes. "
        "The rule that the batch has to be the ridge is one for wide layers."
    ),
}
