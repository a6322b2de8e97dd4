"""Philox4x32-10: random numbers that are a function of a counter and a key.

Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC11), section
3.3. The known answers of its library Random123 hold (`kat_vectors`); a test compares them.
"""

from __future__ import annotations

import numpy as np

MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
BUMPS = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def philox(counters: np.ndarray, key: tuple[int, int]) -> np.ndarray:
    """Returns four words for each counter.

    Args:
        counters: uint32 (n, 4).
        key: two numbers below 2**32.

    Returns:
        uint32 (n, 4).

    >>> [hex(word) for word in philox(np.zeros((1, 4), np.uint32), (0, 0))[0]]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    c = [column.astype(np.uint64) for column in counters.T]
    k0, k1 = key
    for _ in range(ROUNDS):
        a, b = np.uint64(MULTIPLIERS[0]) * c[0], np.uint64(MULTIPLIERS[1]) * c[2]
        c = [
            (b >> _HALF) ^ c[1] ^ np.uint64(k0),
            b & _LOW,
            (a >> _HALF) ^ c[3] ^ np.uint64(k1),
            a & _LOW,
        ]
        k0, k1 = (k0 + BUMPS[0]) % 2**32, (k1 + BUMPS[1]) % 2**32
    return np.stack(c, axis=1).astype(np.uint32)
