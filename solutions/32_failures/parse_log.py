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
    # answer
    records, lost, restarts = [], [], 0
    lines = []
    for line in text.split("\n")[:-1]:
        # All that stands before the last prefix of a line is cut.
        found = re.search(r".*\[default(\d+)\]: (.*)", line)
        if found:
            lines.append((int(found[1]), found[2]))
    last = max((rank for rank, _ in lines), default=0)

    def number(name, words):
        found = re.search(re.escape(name) + r": +(\S+) \|", words)
        return float(found[1]) if found else float("nan")

    for rank, words in lines:
        if rank != last:
            continue
        loaded = re.search(r"loaded checkpoint .* (\d+)$", words)
        record = re.match(r" *iteration +(\d+)/", words)
        if loaded:
            restarts += 1
            at = int(loaded[1])
            lost += [each for each in records if each[0] > at]
            records = [each for each in records if each[0] <= at]
        elif record:
            took = number("elapsed time per iteration (ms)", words)
            loss = number("lm loss", words)
            rate = number("TFLOPs", words)
            records.append((int(record[1]), loss, took, rate))
    return {
        "records": records,
        "restarts": restarts,
        "lost": len(lost),
        "lost_ms": sum(each[2] for each in lost),
    }
    # end answer
