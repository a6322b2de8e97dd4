"""Wrong answers to self_time that learners give."""


def _by_stacks(events, key, holds, threads=True):
    own = {}
    open_now = {}
    for tid, name, ts, dur in sorted(events, key=key):
        stack = open_now.setdefault(tid if threads else 0, [])
        while stack and not holds(stack[-1], ts, ts + dur):
            stack.pop()
        own[name] = own.get(name, 0) + dur
        if stack:
            own[stack[-1][0]] -= dur
        stack.append((name, ts, ts + dur))
    return own


# wrong-result, total: The column "CPU total" is what it takes.
def whole_lengths(events):
    own = {}
    for _, name, _, dur in events:
        own[name] = own.get(name, 0) + dur
    return own


# wrong-result, all-descendants: Takes off whatever lies inside.
def every_descendant_off(events):
    own = {}
    for place, (tid, name, ts, dur) in enumerate(events):
        inside = sum(
            d
            for k, (t, _, s, d) in enumerate(events)
            if t == tid and s >= ts and s + d <= ts + dur and ((s, d) != (ts, dur) or k > place)
        )
        own[name] = own.get(name, 0) + dur - inside
    return own


# wrong-result, one-stack: One stack is enough, it thinks.
def all_threads_on_one_stack(events):
    return _by_stacks(events, lambda e: (e[2], -e[3]), lambda top, s, t: t <= top[2], threads=False)


# wrong-result, touching: What begins no later than the end is inside.
def what_touches_is_inside(events):
    return _by_stacks(events, lambda e: (e[2], -e[3]), lambda top, s, t: s <= top[2])


# wrong-result, in-the-order-given: A trace is written in the order of time.
def in_the_order_of_the_list(events):
    return _by_stacks(events, lambda e: 0, lambda top, s, t: top[1] <= s and t <= top[2])


# wrong-result, shorter-first: Sorts by begin, and then by length, the short one first.
def short_ones_first(events):
    return _by_stacks(events, lambda e: (e[2], e[3]), lambda top, s, t: t <= top[2])


# wrong-result, overwritten: A dict has one place for each name.
def the_last_of_each_name(events):
    own = {}
    open_now = {}
    for tid, name, ts, dur in sorted(events, key=lambda e: (e[2], -e[3])):
        stack = open_now.setdefault(tid, [])
        while stack and ts + dur > stack[-1][1]:
            stack.pop()
        own[name] = dur
        if stack:
            own[stack[-1][0]] -= dur
        stack.append((name, ts + dur))
    return own


# wrong-result, leaves: Only what calls nothing does something.
def leaves_alone(events):
    own = {}
    for place, (tid, name, ts, dur) in enumerate(events):
        holds = any(
            t == tid and ts <= s and s + d <= ts + dur and ((s, d) != (ts, dur) or k > place)
            for k, (t, _, s, d) in enumerate(events)
            if k != place
        )
        own[name] = own.get(name, 0) + (0 if holds else dur)
    return own


# wrong-result, ties: The later one in the list is the outer one.
def the_later_one_is_outer(events):
    return _by_stacks(events[::-1], lambda e: (e[2], -e[3]), lambda top, s, t: t <= top[2])


# wrong-result, names-missing: What took no time is not worth a line.
def without_zeros(events):
    own = _by_stacks(events, lambda e: (e[2], -e[3]), lambda top, s, t: t <= top[2])
    return {name: took for name, took in own.items() if took}
