"""Wrong answers to fat_tree that people give."""


def built(gpus, ports, oversubscribed, reach_of, up_of, fill=True):
    """Returns (switches, cables), with other rules for what a level reaches and sends up."""
    levels = 1
    while reach_of(ports, levels, oversubscribed) < gpus:
        levels += 1
    switches, cables = [], []
    arriving = gpus
    for level in range(levels):
        up = up_of(ports, levels - 1 - level, oversubscribed)
        cables.append(arriving)
        switches.append(-(-arriving // (ports - up)))
        arriving = switches[-1] * up if fill else -(-arriving * up // (ports - up))
    return switches, cables


def reach(ports, levels, oversubscribed):
    """Returns the most GPUs, as it should be."""
    found = ports
    for above in range(1, levels):
        found *= ports - ports_up(ports, above, oversubscribed)
    return found


def ports_up(ports, above, oversubscribed):
    """Returns the ports up of a switch with so many levels above it, as it should be."""
    if above == 0:
        return 0
    if above == 1:
        return -(-ports // (1 + oversubscribed))
    return ports // 2


# wrong-result, all-down: A switch passes on to all its ports, and the next level does so again.
def all_ports_go_down(gpus, ports, oversubscribed):
    return built(gpus, ports, oversubscribed, lambda p, n, r: p**n, ports_up)


# wrong-result, top-up: Half down, half up, wherever a switch stands.
def the_top_looks_up_too(gpus, ports, oversubscribed):
    def up(p, above, r):
        return p // 2 if above == 0 and gpus > p else ports_up(p, above, r)

    return built(gpus, ports, oversubscribed, reach, up)


# wrong-result, thin-everywhere: The network is oversubscribed: on every level.
def thins_out_everywhere(gpus, ports, oversubscribed):
    def up(p, above, r):
        return -(-p // (1 + r)) if above else 0

    def thin(p, n, r):
        return p * (p - -(-p // (1 + r))) ** (n - 1)

    return built(gpus, ports, oversubscribed, thin, up)


# wrong-result, thin-below: GPUs share the leaves, so the leaves are where it gets narrow.
def thins_out_at_the_gpus(gpus, ports, oversubscribed):
    def levels_reach(p, n, r):
        return reach(p, n, r)

    levels = 1
    while levels_reach(ports, levels, oversubscribed) < gpus:
        levels += 1

    def up(p, above, r):
        if above == 0:
            return 0
        return -(-p // (1 + r)) if above == levels - 1 else p // 2

    return built(gpus, ports, oversubscribed, levels_reach, up)


# wrong-result, never-thin: Full bandwidth, as it should be.
def never_thins_out(gpus, ports, oversubscribed):
    return built(gpus, ports, 1, reach, ports_up)


# wrong-result, an-rth: One cable of r is missing upwards.
def an_rth_goes_up(gpus, ports, oversubscribed):
    def up(p, above, r):
        return -(-p // max(r, 2)) if above == 1 else ports_up(p, above, r)

    def wide(p, n, r):
        found = p
        for above in range(1, n):
            found *= p - up(p, above, r)
        return found

    return built(gpus, ports, oversubscribed, wide, up)


# wrong-result, rounded-down: What does not fit into whole switches is left out.
def rounds_down(gpus, ports, oversubscribed):
    switches, cables = built(gpus, ports, oversubscribed, reach, ports_up)
    levels = len(switches)
    found = []
    for level, arriving in enumerate(cables):
        down = ports - ports_up(ports, levels - 1 - level, oversubscribed)
        found.append(max(1, arriving // down))
    return found, cables


# wrong-result, ports-free: Only cables that carry something are laid.
def leaves_ports_up_free(gpus, ports, oversubscribed):
    return built(gpus, ports, oversubscribed, reach, ports_up, fill=False)


# wrong-result, from-the-top: The highest first, as in a drawing.
def from_the_top(gpus, ports, oversubscribed):
    switches, cables = built(gpus, ports, oversubscribed, reach, ports_up)
    return switches[::-1], cables[::-1]


# wrong-result, two-lists: How many switches are there? One number.
def all_switches_together(gpus, ports, oversubscribed):
    switches, cables = built(gpus, ports, oversubscribed, reach, ports_up)
    return sum(switches), sum(cables)


# wrong-result, three-levels: A level more never hurts.
def three_levels_always(gpus, ports, oversubscribed):
    def at_least_three(p, n, r):
        return reach(p, n, r) if n > 2 else 0

    return built(gpus, ports, oversubscribed, at_least_three, ports_up)


# wrong-result, both-ends: Both ends of a cable are counted.
def counts_both_ends(gpus, ports, oversubscribed):
    switches, cables = built(gpus, ports, oversubscribed, reach, ports_up)
    return switches, [2 * each for each in cables]


# wrong-result, swapped: The cables first.
def the_cables_first(gpus, ports, oversubscribed):
    switches, cables = built(gpus, ports, oversubscribed, reach, ports_up)
    return cables, switches


# wrong-result, up-rounded-down: A port that does not divide goes down.
def rounds_the_ports_up_down(gpus, ports, oversubscribed):
    def up_of(ports, above, oversubscribed):
        rounded = ports // (1 + oversubscribed)
        return rounded if above == 1 else ports_up(ports, above, oversubscribed)

    def reach_of(ports, levels, oversubscribed):
        found = ports
        for above in range(1, levels):
            found *= ports - up_of(ports, above, oversubscribed)
        return found

    return built(gpus, ports, oversubscribed, reach_of, up_of)
