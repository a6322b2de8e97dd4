"""A look at two blocks before the compiler is asked: many a fault shows there, and it costs little.

Whatever it misses the filter finds; and where it sees something that is none, the launch is only
interpreted, which is always right.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from simt.machine.faults import CannotGoOn, FaultLog
from simt.machine.interpreter import Interpreter
from simt.machine.lanes import Lanes
from simt.machine.observer import Audience, Setting
from simt.machine.watchdog import EndlessLoop
from simt.observe.races import Races
from simt.report import Printout

BLOCKS = 2
"""The first, where a barrier is missed as in any other; and the last, which an array that ends in
the middle of a block has fewest cells for."""


def shows_fault(setting: Setting, steps: int) -> bool:
    """Returns whether something goes wrong there.

    Memory is left as those blocks leave it.

    Args:
        setting: the launch.
        steps: that the interpreter may take.
    """
    faults = FaultLog()
    faults.most_errors = 1
    looked_at = replace(setting, faults=faults, printout=Printout())
    audience = Audience([Races()])
    audience.begin(looked_at)
    lanes = Lanes(setting.grid, setting.block, np.unique([0, math.prod(setting.grid) - 1]))
    audience.batch(lanes)
    try:
        with np.errstate(all="ignore"):
            Interpreter(looked_at, lanes, audience, steps).run()
    except CannotGoOn:
        return True
    except EndlessLoop as end:
        return bool(faults.found) or bool(end.facts["hopeless"])
    return bool(faults.found)
