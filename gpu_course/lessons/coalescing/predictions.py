"""What lesson 03 says once a guess is made."""

from __future__ import annotations

from gpu_course.puzzle.specification import Sealed

PREDICTIONS = {
    "Sectors of a load with stride 2": Sealed(
        "Every second number is fetched and thrown away: half of each sector is waste. The lanes "
        "still get 128 bytes, and 256 are moved for them."
    ),
    "Sectors of a load that begins one cell late": Sealed(
        "The same 128 bytes, moved on by four, reach into a fifth sector. That is a quarter more "
        "for a request that is otherwise perfect. It happens with views, with rows whose length is "
        "no multiple of eight, and with blocks whose size is no multiple of 32."
    ),
    "Sectors of four loads in chunks": Sealed(
        "Each load has stride 4 and touches 16 sectors, and all four loads touch the *same* 16. A "
        "cache may notice that, and the count does not. Dealt out, the four loads touch four "
        "sectors each, and every one of them is full."
    ),
    "Which kernel wastes sectors?": Sealed(
        "In `add_rows` the lanes stand below each other, in 32 rows, at every moment: each load "
        "touches 32 sectors. In `add_columns` they stand side by side in one row and step down "
        "together."
    ),
    "Sectors for x of 32 structs with four fields": Sealed(
        "A struct has 16 bytes, so two of them share a sector, and three quarters of what is moved "
        "is y, z and mass. To memory a struct is a stride."
    ),
    "Share of the loaded bytes that is used, in percent": Sealed(
        "The 32 lanes are in 32 rows, each in a sector of its own: four bytes of 32 are used, an "
        "eighth. The stores into `out` are as bad, for the same reason."
    ),
    "Sectors of a load and a store of a transposition": Sealed(
        "The load goes along a row: four sectors. The store goes down a column, and each of its 32 "
        "cells lies in another row, so in another sector."
    ),
}
