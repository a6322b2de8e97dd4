"""Wrong answers to goodput that people give."""


def run(
    failures,
    end,
    interval,
    write,
    blocking,
    recover,
    spares,
    repair,
    kept_from=None,
    in_order=True,
    refails=True,
    counts_end=True,
    cut=True,
    back=None,
    tie=0,
    ends_state=False,
):
    failures = sorted(failures) if in_order else list(failures)
    spent = {"useful": 0, "writing": 0, "lost": 0, "down": 0}
    begins = 0
    for number, moment in enumerate([*failures, end]):
        if moment > begins:
            seconds = moment - begins - (0 if moment == end else tie)
            if blocking:
                cycles, rest = divmod(seconds, interval + write)
                kept, training = cycles * interval, min(rest + (moment != end) * tie, interval)
                trained = kept + training
                if kept_from == "begun" and rest >= interval:
                    kept += interval
                spent["writing"] += moment - begins - trained
            else:
                step = -(-write // interval) * interval
                if kept_from == "queued":
                    step = max(write, interval)
                late = 0 if kept_from == "begun" else write
                cycles = (seconds - late - interval) // step
                kept = interval + cycles * step if cycles >= 0 else 0
                if ends_state and kept:
                    kept += write
                trained = moment - begins
            if moment == end and counts_end:
                kept = trained
            spent["useful"] += kept
            spent["lost"] += trained - kept
        if moment == end:
            break
        if moment < begins and not refails:
            spent["down"] += min(begins, [*failures, end][number + 1]) - moment
            continue
        full = moment
        if number >= spares and back != "always":
            oldest = failures[number - spares] + repair
            oldest = {"own": moment + repair, "never": 10 * end}.get(back, oldest)
            full = max(full, oldest)
        begins = full + recover
        until = [*failures, end][number + 1]
        spent["down"] += (min(begins, until) if cut or until < end else begins) - moment
    return spent


# wrong-result, never-blocks: Writes are never in the way.
def trains_on(failures, end, interval, write, blocking, recover, spares, repair):
    return run(failures, end, interval, write, False, recover, spares, repair)


# wrong-result, always-blocks: Every write stops the run.
def stands_still(failures, end, interval, write, blocking, recover, spares, repair):
    return run(failures, end, interval, write, True, recover, spares, repair)


# wrong-result, begun-is-saved: Goes back to the last checkpoint that was begun.
def trusts_a_begun_write(failures, end, interval, write, blocking, recover, spares, repair):
    return run(failures, end, interval, write, blocking, recover, spares, repair, kept_from="begun")


# wrong-result, state-of-the-end: A checkpoint holds the state of the moment it is saved.
def holds_the_state_of_the_end(failures, end, interval, write, blocking, recover, spares, repair):
    return run(failures, end, interval, write, blocking, recover, spares, repair, ends_state=True)


# wrong-result, queued: The next one waits until this one is written.
def begins_the_next_when_free(failures, end, interval, write, blocking, recover, spares, repair):
    return run(
        failures, end, interval, write, blocking, recover, spares, repair, kept_from="queued"
    )


# wrong-result, goes-on-recovering: What is down cannot fail.
def what_is_down_cannot_fail(failures, end, interval, write, blocking, recover, spares, repair):
    return run(failures, end, interval, write, blocking, recover, spares, repair, refails=False)


# wrong-result, enough-spares: There is always a spare.
def always_has_a_spare(failures, end, interval, write, blocking, recover, spares, repair):
    return run(failures, end, interval, write, blocking, recover, spares, repair, back="always")


# wrong-result, never-repaired: Who is broken is gone.
def nobody_comes_back(failures, end, interval, write, blocking, recover, spares, repair):
    return run(failures, end, interval, write, blocking, recover, spares, repair, back="never")


# wrong-result, waits-for-its-own: Waits until the broken machine is repaired.
def waits_for_this_machine(failures, end, interval, write, blocking, recover, spares, repair):
    return run(failures, end, interval, write, blocking, recover, spares, repair, back="own")


# wrong-result, in-the-given-order: Takes the list as it comes.
def takes_them_as_listed(failures, end, interval, write, blocking, recover, spares, repair):
    return run(failures, end, interval, write, blocking, recover, spares, repair, in_order=False)


# wrong-result, lost-at-the-end: Only what is saved is useful.
def only_saved_is_useful(failures, end, interval, write, blocking, recover, spares, repair):
    return run(failures, end, interval, write, blocking, recover, spares, repair, counts_end=False)


# wrong-result, past-the-end: Counts every recovery whole.
def recovers_past_the_end(failures, end, interval, write, blocking, recover, spares, repair):
    return run(failures, end, interval, write, blocking, recover, spares, repair, cut=False)


# wrong-result, loses-what-is-just-saved: A failure at that moment comes first.
def the_failure_comes_first(failures, end, interval, write, blocking, recover, spares, repair):
    return run(failures, end, interval, write, blocking, recover, spares, repair, tie=1)


# wrong-result, on-the-clock: Begins one whenever the clock has gone on by an interval.
def on_a_beat_of_the_clock(failures, end, interval, write, blocking, recover, spares, repair):
    order = sorted(failures)
    spent = {"useful": 0, "writing": 0, "lost": 0, "down": 0}
    begins, trained, saved = 0, 0, 0
    state, saved_at, number = 0, None, 0
    for now in range(end):
        if saved_at == now:
            saved, saved_at = state, None
        while number < len(order) and order[number] == now:
            spent["lost"] += trained - saved
            trained, saved_at = saved, None
            full = order[number - spares] + repair if number >= spares else now
            begins = max(now, full) + recover
            number += 1
        if now < begins:
            spent["down"] += 1
            continue
        if saved_at is None and now and now % interval == 0:
            state, saved_at = trained, now + write
        if blocking and saved_at is not None:
            spent["writing"] += 1
        else:
            trained += 1
    return spent | {"useful": trained}
