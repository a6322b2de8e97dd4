"""self_time: what each name took itself, without what it called.

    self_time(events) -> dict

    events  list of (tid, name, ts, dur): thread, name, begin and
            length in nanoseconds, whole numbers

On one thread, an event lies inside another if it begins no earlier and
ends no later. Two events of one thread either lie one inside the other
or have no time in common; they may touch. Of two with the same begin
and end, the one listed first is the outer one. Threads know nothing of
each other.

The self time of an event is its length without the time in which some
event inside it runs. Return {name: self time of all events of that
name, added up}, with every name that occurs.

The list is in no order, and may be empty. A length may be 0.
"""


def self_time(events):
    # answer
    own = {}
    open_now = {}
    outer_first = sorted(events, key=lambda e: (e[2], -e[3]))
    for tid, name, ts, dur in outer_first:
        stack = open_now.setdefault(tid, [])
        while stack and ts + dur > stack[-1][1]:
            stack.pop()
        own[name] = own.get(name, 0) + dur
        if stack:
            own[stack[-1][0]] -= dur
        stack.append((name, ts + dur))
    return own
    # end answer
