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
    # your code here (about 12 lines)
    pass
