"""best_cost: what a chain's cheapest schedule costs in a memory.

    best_cost(stages, memory) -> number, math.inf where nothing fits

    stages  as in `schedule_peak`
    memory  what may be in use at one time, in the same unit; 1 or more,
            and perhaps too little for any schedule

Write C(s, t, m): the least cost of taking stages s to t - 1 forward and
back in a memory of m. The input of s is there and not counted in m; the
gradient of the output of t - 1 is there and is counted. Two beginnings:

* save all of s; solve s + 1 to t - 1 in what that leaves of m; go back
  through s;
* keep the input of s and run on, saving nothing, to some stage c
  between s and t; solve c to t - 1 in what the input of c leaves of m;
  then solve s to c - 1, in all of m.

A beginning counts only if none of its own operations rises above m. The
input of c is the output of stage c - 1.
"""

import math
from functools import cache


def best_cost(stages, memory):
    # your code here (about 25 lines)
    pass
