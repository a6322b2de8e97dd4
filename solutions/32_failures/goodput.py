"""goodput: what became of each second of a run that failed.

    goodput(failures, end, interval, write, blocking, recover, spares,
            repair) -> a dict

    failures  moments at which a machine breaks, in no order; more than
              one may break at the same moment
    end       when the run ends; all failures come before it
    interval  of training, from one checkpoint to the next; 1 or more
    write     how long writing a checkpoint takes; 1 or more
    blocking  True if training stands still while one is written
    recover   from having all machines to training again; 0 or more
    spares    machines that stand ready at the beginning
    repair    how long a broken machine takes to become a spare

All are whole seconds. The run trains from moment 0. Once it has trained
for `interval` since it began, since it recovered or since a checkpoint
fell due, the next one falls due: it is begun at once, holds the state
of that moment, and is saved `write` later. If it is not blocking,
training goes on, and one that falls due while another is being written
is left out.

When a machine breaks, a write that goes on is given up, and what was
trained after the state of the last saved checkpoint is lost. A spare
takes the place of each broken machine. The run stands still until no
place is empty, and for `recover` after that. A machine that breaks in
between leaves a place empty again, and `recover` begins anew. At one
moment, what is just over counts first (a write, a repair), and what
breaks comes after it.

Return the seconds that were {"useful": trained and not lost, "writing":
spent by blocking writes, "lost": trained in vain, "down": no training
after a failure}. They add up to `end`. What is not saved at the end is
useful.
"""


def goodput(
    failures,
    end,
    interval,
    write,
    blocking,
    recover,
    spares,
    repair,
):
    # answer
    def trained_for(seconds):
        """Of so many seconds: trained, of these saved, written."""
        if blocking:
            cycles, rest = divmod(seconds, interval + write)
            training = min(rest, interval)
            kept = cycles * interval
            return kept + training, kept, seconds - kept - training
        # One that falls due during a write is left out.
        step = -(-write // interval) * interval
        cycles = (seconds - write - interval) // step
        kept = interval + cycles * step if cycles >= 0 else 0
        return seconds, kept, 0

    spent = {"useful": 0, "writing": 0, "lost": 0, "down": 0}
    failures, begins = sorted(failures), 0
    for number, moment in enumerate([*failures, end]):
        if moment > begins:
            trained, kept, writing = trained_for(moment - begins)
            spent["writing"] += writing
            if moment == end:
                kept = trained
            spent["useful"] += kept
            spent["lost"] += trained - kept
        if moment == end:
            break
        # Machines come back in the order in which they broke.
        full = moment
        if number >= spares:
            full = max(full, failures[number - spares] + repair)
        begins = full + recover
        until = [*failures, end][number + 1]
        spent["down"] += min(begins, until) - moment
    return spent
    # end answer
