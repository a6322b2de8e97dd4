"""Wrong answers to search that people give."""


def listed(layouts, limit_bytes, floor=None, key=None, fits=None, first=None):
    def at_least(layout):
        seconds = layout["seconds"]
        sent = [seconds[part] for part in ("tp", "pp", "dp")]
        return max(seconds["compute"] + seconds["bubble"], *sent)

    pairs = [
        (number, (floor or at_least)(layout))
        for number, layout in enumerate(layouts)
        if fits is None and layout["memory_bytes"] <= limit_bytes or fits and fits(layout)
    ]
    return sorted(pairs, key=key or (lambda pair: pair[1]))[:first]


# over-budget, dead-runs: Does not look at the memory.
def whatever_fits(layouts, limit_bytes):
    return listed(layouts, limit_bytes, fits=lambda layout: True)


# over-budget, low-floor: Thinks of computing alone.
def computing_alone(layouts, limit_bytes):
    return listed(layouts, limit_bytes, lambda layout: layout["seconds"]["compute"])


# over-budget, low-floor: Gives no floor, and so runs all that fits.
def all_that_fits(layouts, limit_bytes):
    return listed(layouts, limit_bytes, lambda layout: 0.0)


# over-budget, order: Gives right floors, and leaves the order as it is.
def the_order_as_it_is(layouts, limit_bytes):
    return listed(layouts, limit_bytes, key=lambda pair: pair[0])


# over-budget, order: Begins with the slowest.
def the_slowest_first(layouts, limit_bytes):
    return listed(layouts, limit_bytes, key=lambda pair: -pair[1])


# wrong-result, no-floor: Takes the sum of all parts for a floor.
def the_sum_of_all_parts(layouts, limit_bytes):
    return listed(layouts, limit_bytes, lambda layout: sum(layout["seconds"].values()))


# wrong-result, left-out: Runs one layout, that with the lowest floor.
def the_lowest_floor_alone(layouts, limit_bytes):
    return listed(layouts, limit_bytes, first=1)


# wrong-result, left-out: Leaves out what takes half of the memory.
def half_of_the_memory(layouts, limit_bytes):
    return listed(layouts, limit_bytes, fits=lambda each: each["memory_bytes"] <= limit_bytes / 2)


# wrong-result, twice: Tries each layout a second time, to be sure.
def each_layout_twice(layouts, limit_bytes):
    return [pair for pair in listed(layouts, limit_bytes) for _ in range(2)]


# wrong-result, wrong-form: Returns numbers without floors.
def numbers_alone(layouts, limit_bytes):
    return [number for number, _ in listed(layouts, limit_bytes)]
