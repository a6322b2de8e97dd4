"""run_cost: GPU-hours, days, energy and money of a run.

    run_cost(stages, gpus, peak, mfu, goodput, watts, pue, price)
        -> (gpu_hours, days, kwh, dollars)

    stages   of the run, one after the other, or none. Each is a dict
             {"tokens": .., "flop_per_token": ..}, the model's FLOP, or
             {"gpu_hours": ..} where a run like it was measured
    gpus     that are held, all of them for the whole run
    peak     FLOP/s of one GPU
    mfu      (least, most): share of the peak while the run makes steps
    goodput  (least, most): share of the time in which it makes steps
             that last; the rest goes to failures and restarts
    watts    (least, most): of one GPU with its part of a server, all
             the time
    pue      watts at the meter for each watt of a server
    price    (least, most): dollars for a GPU-hour

Return four pairs (least, most): of what may come, the least and the
most that is possible. Measured hours are what was paid: they hold
failures and all, and have no spread. The price holds the energy.

Raise ValueError where a pair isn't in order or not above 0 (NaN is
neither), where mfu or goodput is above 1, where pue or gpus is below 1,
or where a number of a stage is below 0. All else is finite.
"""


def run_cost(
    stages,
    gpus,
    peak,
    mfu,
    goodput,
    watts,
    pue,
    price,
):
    # answer
    for low, high in (mfu, goodput, watts, price):
        if not 0 < low <= high:
            raise ValueError(f"from {low} to {high}")
    if mfu[1] > 1 or goodput[1] > 1:
        raise ValueError("a share above 1")
    if pue < 1 or gpus < 1:
        raise ValueError(f"a PUE of {pue}, {gpus} GPUs")
    measured = flop = 0
    for stage in stages:
        if min(stage.values()) < 0:
            raise ValueError(f"a stage of {stage}")
        if "gpu_hours" in stage:
            measured += stage["gpu_hours"]
        else:
            flop += stage["tokens"] * stage["flop_per_token"]
    hours = []
    for side in (1, 0):
        rate = peak * mfu[side] * goodput[side]
        hours.append(measured + flop / rate / 3600)
    days = [each / gpus / 24 for each in hours]
    kwh = [hours[n] * watts[n] * pue / 1000 for n in (0, 1)]
    dollars = [hours[n] * price[n] for n in (0, 1)]
    return hours, days, kwh, dollars
    # end answer
