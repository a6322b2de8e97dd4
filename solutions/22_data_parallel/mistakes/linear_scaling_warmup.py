"""Wrong answers to linear_scaling_warmup that people give."""


def scheduled(step, start, full, warmup_steps, milestones):
    """The rate between a start and the full one, and after milestones."""
    rate = full
    if step < warmup_steps:
        rate = start + (full - start) * step / warmup_steps
    return rate * 0.1 ** sum(step >= milestone for milestone in milestones)


# wrong-result, constant: First small, then large.
def constant_warmup(step, base_rate, base_batch, batch, warmup_steps, milestones):
    full = base_rate * batch / base_batch
    rate = base_rate if step < warmup_steps else full
    return rate * 0.1 ** sum(step >= milestone for milestone in milestones)


# wrong-result, not-scaled: A rate is a rate, whatever the batch.
def does_not_scale(step, base_rate, base_batch, batch, warmup_steps, milestones):
    return scheduled(step, base_rate, base_rate, warmup_steps, milestones)


# wrong-result, root: The noise of a mean falls with the root of its rows.
def scales_by_the_root(step, base_rate, base_batch, batch, warmup_steps, milestones):
    full = base_rate * (batch / base_batch) ** 0.5
    return scheduled(step, base_rate, full, warmup_steps, milestones)


# wrong-result, scaled-down: A larger batch is a smaller step.
def scales_down(step, base_rate, base_batch, batch, warmup_steps, milestones):
    full = base_rate * base_batch / batch
    return scheduled(step, base_rate, full, warmup_steps, milestones)


# wrong-result, from-zero: Many schedules begin at nothing.
def warms_up_from_zero(step, base_rate, base_batch, batch, warmup_steps, milestones):
    full = base_rate * batch / base_batch
    return scheduled(step, 0.0, full, warmup_steps, milestones)


# wrong-result, no-warmup: From the start as fast as it goes.
def no_warmup(step, base_rate, base_batch, batch, warmup_steps, milestones):
    full = base_rate * batch / base_batch
    return scheduled(step, base_rate, full, 0, milestones)


# wrong-result, ahead: Steps are counted from one.
def one_step_ahead(step, base_rate, base_batch, batch, warmup_steps, milestones):
    full = base_rate * batch / base_batch
    rate = full
    if step < warmup_steps:
        rate = base_rate + (full - base_rate) * (step + 1) / warmup_steps
    return rate * 0.1 ** sum(step >= milestone for milestone in milestones)


# wrong-result, late: After a milestone, that is: behind it.
def a_step_late(step, base_rate, base_batch, batch, warmup_steps, milestones):
    full = base_rate * batch / base_batch
    rate = scheduled(step, base_rate, full, warmup_steps, [])
    return rate * 0.1 ** sum(step > milestone for milestone in milestones)


# wrong-result, one-tenth: Past a milestone it is a tenth.
def one_tenth_for_all(step, base_rate, base_batch, batch, warmup_steps, milestones):
    full = base_rate * batch / base_batch
    rate = scheduled(step, base_rate, full, warmup_steps, [])
    return rate * 0.1 if any(step >= milestone for milestone in milestones) else rate


# wrong-result, after-warmup: A milestone knows only the full rate.
def milestones_after_the_warmup(step, base_rate, base_batch, batch, warmup_steps, milestones):
    full = base_rate * batch / base_batch
    if step < warmup_steps:
        return base_rate + (full - base_rate) * step / warmup_steps
    return full * 0.1 ** sum(step >= milestone for milestone in milestones)


# wrong-result, from-warmup: Milestones are counted from the end of the warm-up.
def milestones_from_the_end_of_the_warmup(
    step, base_rate, base_batch, batch, warmup_steps, milestones
):
    full = base_rate * batch / base_batch
    later = [milestone + warmup_steps for milestone in milestones]
    return scheduled(step, base_rate, full, warmup_steps, later)
