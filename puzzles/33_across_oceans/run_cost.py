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
    # your code here (about 23 lines)
    pass
