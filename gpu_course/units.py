"""Units of the course: what a GB is, what a GiB is, and how a quantity is written out.

GB counts in powers of ten and GiB in powers of two; the two are never mixed.
"""

from __future__ import annotations

import re

KB = 10**3
MB = 10**6
GB = 10**9
TB = 10**12

KIB = 2**10
MIB = 2**20
GIB = 2**30
TIB = 2**40

MEGA = 10**6
GIGA = 10**9
TERA = 10**12
PETA = 10**15

_BINARY = (("TiB", TIB), ("GiB", GIB), ("MiB", MIB), ("KiB", KIB))
_DECIMAL = (("TB", TB), ("GB", GB), ("MB", MB), ("kB", KB))
_FLOP = (("PFLOP", PETA), ("TFLOP", TERA), ("GFLOP", GIGA), ("MFLOP", MEGA))
_TIME = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


def format_bytes(count: float, *, binary: bool = True) -> str:
    """Returns a number of bytes in the largest unit that leaves at least 1.

    Args:
        count: bytes.
        binary: True for KiB, MiB, GiB (memories); False for kB, MB, GB (traffic and networks).

    Examples:
        >>> format_bytes(49152)
        '48 KiB'
        >>> format_bytes(80 * GIB)
        '80 GiB'
        >>> format_bytes(1500, binary=False)
        '1.5 kB'
        >>> format_bytes(512)
        '512 bytes'
        >>> format_bytes(1)
        '1 byte'
    """
    for unit, size in _BINARY if binary else _DECIMAL:
        if abs(count) >= size:
            return f"{_short(count / size)} {unit}"
    return f"{_short(count)} byte{'' if count == 1 else 's'}"


def byte_unit(highest: float) -> tuple[int, str]:
    """Returns (bytes in it, name) of the unit for an axis that reaches so far.

    >>> byte_unit(80 * GIB), byte_unit(512)
    ((1073741824, 'GiB'), (1, 'bytes'))
    """
    units = ((size, name) for name, size in _BINARY[1:] if highest >= size)
    return next(units, (1, "bytes"))


_PLURAL = re.compile(
    r"\b([a-z]+(?:ch|ss)(?=es\b)|[a-z]*[^s\W](?=s\b))e?s\b( that split\b| that wait\b)?"
)


def of_so_many(number: int, words: str) -> str:
    """Returns a number with words that begin in the plural, in the singular where it is one.

    Examples:
        >>> of_so_many(2, "excess sectors in loads"), of_so_many(1, "excess sectors in loads")
        ('2 excess sectors in loads', '1 excess sector in loads')
        >>> of_so_many(1, "branches that split a warp")
        '1 branch that splits a warp'
        >>> of_so_many(1, "passes to write it")
        '1 pass to write it'
    """
    if number == 1:
        words = _PLURAL.sub(_singular, words, count=1)
    return f"{number:,} {words}"


def _singular(found: re.Match[str]) -> str:
    noun, verb = found[1], found[2] or ""
    return f"{noun}{verb}{'s' * bool(verb)}"


def format_bandwidth(bytes_per_s: float) -> str:
    """Returns a bandwidth in GB/s or TB/s, which count in powers of ten.

    Examples:
        >>> format_bandwidth(936 * GB)
        '936 GB/s'
        >>> format_bandwidth(3.35 * TB)
        '3.35 TB/s'
    """
    return f"{format_bytes(bytes_per_s, binary=False)}/s"


def format_flops(count: float) -> str:
    """Returns a number of floating-point operations in MFLOP, GFLOP, TFLOP or PFLOP.

    Write `/s` behind it for a rate.

    Examples:
        >>> format_flops(19.5e12)
        '19.5 TFLOP'
        >>> format_flops(312e12) + "/s"
        '312 TFLOP/s'
        >>> format_flops(750)
        '750 FLOP'
    """
    for unit, size in _FLOP:
        if abs(count) >= size:
            return f"{_short(count / size)} {unit}"
    return f"{_short(count)} FLOP"


def format_time_s(seconds: float) -> str:
    """Returns a time in s, ms, µs or ns.

    Args:
        seconds: the time in seconds.

    Examples:
        >>> format_time_s(0.0041)
        '4.1 ms'
        >>> format_time_s(2.5e-6)
        '2.5 µs'
        >>> format_time_s(90)
        '90 s'
        >>> format_time_s(0)
        '0 s'
    """
    for unit, size in _TIME:
        if abs(seconds) >= size:
            return f"{_short(seconds / size)} {unit}"
    return f"{_short(seconds / 1e-9)} ns" if seconds else "0 s"


def _short(value: float) -> str:
    # Four digits at most, and no zeros that say nothing: 1.5, 48, 19.49, 1024.
    digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
