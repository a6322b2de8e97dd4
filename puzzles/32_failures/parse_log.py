"""parse_log: which iterations of a log are still part of the run.

    parse_log(text) -> a dict

    text  the log of all ranks of a run that was killed and started
          again, maybe often; it may be empty

A line begins with its rank, such as "[default7]: ". Each rank's lines
are in order; those of another rank may come late. A process that is
killed leaves its last line cut anywhere, without a line break, and the
next line, of any rank, follows at once. Nothing cut counts, not even at
the end of the log. Lines without a rank come from elsewhere.

Read the lines of the last rank, the one with the highest number; others
have records of their own. Two kinds of them matter:

    [default7]: iteration 1201/115000 | consumed samples: 2459648 |
      elapsed time per iteration (ms): 105220.3 | lm loss: 2.345E+00 |
      grad norm: 0.142 | TFLOPs: 149.02 |
    [default7]: successfully loaded checkpoint from /ckpt/step1200
      at iteration 1200

Each is one line in the log, and a record may have more fields. A loss
can be NAN or INF. A record without one had a loss of NaN: Megatron
prints it only if it is above 0, and NaN is above nothing.

When a checkpoint of iteration c is loaded, the run goes on from there:
all records of iterations after c that came before are lost. Return

    "records"   list of (iteration, loss, milliseconds, TFLOPs), those
                that are not lost, as they come
    "restarts"  how often a checkpoint was loaded
    "lost"      how many records are lost
    "lost_ms"   how many milliseconds these had taken
"""

import re


def parse_log(text):
    # your code here (about 31 lines)
    pass
