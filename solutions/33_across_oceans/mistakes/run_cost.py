"""Wrong answers to run_cost that people give."""


def _refuse(stages, gpus, mfu, goodput, watts, pue, price):
    for low, high in (mfu, goodput, watts, price):
        if not 0 < low <= high:
            raise ValueError("a pair")
    if mfu[1] > 1 or goodput[1] > 1 or pue < 1 or gpus < 1:
        raise ValueError("a share")
    if any(value < 0 for stage in stages for value in stage.values()):
        raise ValueError("a stage")


def _measured(stages):
    return sum(stage.get("gpu_hours", 0) for stage in stages)


def _flop(stages):
    return sum(s["tokens"] * s["flop_per_token"] for s in stages if "tokens" in s)


def _hours(stages, peak, mfu, goodput):
    """Returns the least and the most GPU-hours."""
    measured, flop = _measured(stages), _flop(stages)
    return [measured + flop / (peak * mfu[n] * goodput[n] * 3600) for n in (1, 0)]


def _all(hours, gpus, watts, pue, price):
    """Returns all four pairs for GPU-hours."""
    days = [each / gpus / 24 for each in hours]
    kwh = [hours[n] * watts[n] * pue / 1000 for n in (0, 1)]
    return hours, days, kwh, [hours[n] * price[n] for n in (0, 1)]


# wrong-result, turned-round: The least MFU belongs to the least hours.
def pairs_as_they_stand(stages, gpus, peak, mfu, goodput, watts, pue, price):
    _refuse(stages, gpus, mfu, goodput, watts, pue, price)
    hours = _hours(stages, peak, mfu[::-1], goodput[::-1])
    return _all(hours, gpus, watts, pue, price)


# wrong-result, at-the-peak: A GPU does what its data sheet says.
def at_the_peak(stages, gpus, peak, mfu, goodput, watts, pue, price):
    _refuse(stages, gpus, mfu, goodput, watts, pue, price)
    hours = _hours(stages, peak, (1, 1), goodput)
    return _all(hours, gpus, watts, pue, price)


# wrong-result, no-failures: A run makes steps all the time.
def without_failures(stages, gpus, peak, mfu, goodput, watts, pue, price):
    _refuse(stages, gpus, mfu, goodput, watts, pue, price)
    hours = _hours(stages, peak, mfu, (1, 1))
    return _all(hours, gpus, watts, pue, price)


# wrong-result, fewer-by-failures: What is lost is not paid.
def failures_take_hours_away(stages, gpus, peak, mfu, goodput, watts, pue, price):
    _refuse(stages, gpus, mfu, goodput, watts, pue, price)
    hours = [
        _measured(stages) + _flop(stages) * goodput[1 - n] / (peak * mfu[n] * 3600) for n in (1, 0)
    ]
    return _all(hours, gpus, watts, pue, price)


# wrong-result, failed-twice: All hours are lengthened by failures.
def failures_on_measured_hours_too(stages, gpus, peak, mfu, goodput, watts, pue, price):
    _refuse(stages, gpus, mfu, goodput, watts, pue, price)
    measured, flop = _measured(stages), _flop(stages)
    hours = [(measured + flop / (peak * mfu[n] * 3600)) / goodput[n] for n in (1, 0)]
    return _all(hours, gpus, watts, pue, price)


# wrong-result, counted-alone: Hours follow from FLOP.
def leaves_out_what_was_measured(stages, gpus, peak, mfu, goodput, watts, pue, price):
    _refuse(stages, gpus, mfu, goodput, watts, pue, price)
    hours = _hours([s for s in stages if "tokens" in s], peak, mfu, goodput)
    return _all(hours, gpus, watts, pue, price)


# wrong-result, first-stage: The pretraining is the run.
def counts_the_first_stage(stages, gpus, peak, mfu, goodput, watts, pue, price):
    _refuse(stages, gpus, mfu, goodput, watts, pue, price)
    hours = _hours(stages[:1], peak, mfu, goodput)
    return _all(hours, gpus, watts, pue, price)


# wrong-result, no-pue: Energy is what the GPUs draw.
def without_the_building(stages, gpus, peak, mfu, goodput, watts, pue, price):
    _refuse(stages, gpus, mfu, goodput, watts, pue, price)
    hours = _hours(stages, peak, mfu, goodput)
    return _all(hours, gpus, watts, 1, price)


# wrong-result, watt-hours: Watts times hours.
def in_watt_hours(stages, gpus, peak, mfu, goodput, watts, pue, price):
    _refuse(stages, gpus, mfu, goodput, watts, pue, price)
    hours = _hours(stages, peak, mfu, goodput)
    return _all(hours, gpus, watts, 1000 * pue, price)


# wrong-result, busy-watts: A GPU draws power while it works.
def draws_nothing_in_failures(stages, gpus, peak, mfu, goodput, watts, pue, price):
    _refuse(stages, gpus, mfu, goodput, watts, pue, price)
    hours = _hours(stages, peak, mfu, goodput)
    busy = _hours(stages, peak, mfu, (1, 1))
    kwh = [busy[n] * watts[n] * pue / 1000 for n in (0, 1)]
    found = _all(hours, gpus, watts, pue, price)
    return found[0], found[1], kwh, found[3]


# wrong-result, one-gpu: GPU-hours are hours.
def days_of_one_gpu(stages, gpus, peak, mfu, goodput, watts, pue, price):
    _refuse(stages, gpus, mfu, goodput, watts, pue, price)
    hours = _hours(stages, peak, mfu, goodput)
    return _all(hours, 1, watts, pue, price)


# wrong-result, rate-of-all: More GPUs take fewer hours.
def gpu_hours_shared_out(stages, gpus, peak, mfu, goodput, watts, pue, price):
    _refuse(stages, gpus, mfu, goodput, watts, pue, price)
    hours = _hours(stages, peak * gpus, mfu, goodput)
    return _all(hours, 1, watts, pue, price)


# wrong-result, seconds: FLOP over FLOP/s.
def in_seconds(stages, gpus, peak, mfu, goodput, watts, pue, price):
    _refuse(stages, gpus, mfu, goodput, watts, pue, price)
    hours = [3600 * each for each in _hours(stages, peak, mfu, goodput)]
    return _all(hours, gpus, watts, pue, price)


# wrong-result, other-ends: Few hours are bought at the high price, many at the low.
def crosses_hours_and_prices(stages, gpus, peak, mfu, goodput, watts, pue, price):
    _refuse(stages, gpus, mfu, goodput, watts, pue, price)
    hours = _hours(stages, peak, mfu, goodput)
    return _all(hours, gpus, watts, pue, price[::-1])


# wrong-result, middle: A plan has one number.
def takes_the_middle(stages, gpus, peak, mfu, goodput, watts, pue, price):
    _refuse(stages, gpus, mfu, goodput, watts, pue, price)
    both = _hours(stages, peak, mfu, goodput)
    hours = [sum(both) / 2] * 2
    watts, price = [sum(watts) / 2] * 2, [sum(price) / 2] * 2
    return _all(hours, gpus, watts, pue, price)


# wrong-result, mixed-ends: The most MFU, and failures as they come.
def one_spread_at_a_time(stages, gpus, peak, mfu, goodput, watts, pue, price):
    _refuse(stages, gpus, mfu, goodput, watts, pue, price)
    measured, flop = _measured(stages), _flop(stages)
    hours = [measured + flop / (peak * mfu[n] * goodput[1 - n] * 3600) for n in (1, 0)]
    return _all(hours, gpus, watts, pue, price)


# wrong-result, energy-twice: The bill for energy comes on top.
def pays_energy_on_top(stages, gpus, peak, mfu, goodput, watts, pue, price):
    _refuse(stages, gpus, mfu, goodput, watts, pue, price)
    hours = _hours(stages, peak, mfu, goodput)
    hours, days, kwh, dollars = _all(hours, gpus, watts, pue, price)
    return hours, days, kwh, [dollars[n] + 0.1 * kwh[n] for n in (0, 1)]


# wrong-result, not-refused: Numbers are numbers.
def takes_anything(stages, gpus, peak, mfu, goodput, watts, pue, price):
    safe = [[max(each, 1e-9) for each in pair] for pair in (mfu, goodput)]
    return _all(_hours(stages, peak, *safe), max(gpus, 1), watts, pue, price)
