"""in_flight_batching: who has a slot in each step.

    in_flight_batching(requests, slots, pages) -> list of lists of int

    requests  list of dicts of int, in the order in which they arrive:
                  "arrives"  the first step in which it may be
                  "prompt"   tokens of its prompt
                  "output"   tokens that it makes, at least one
    slots     int, requests that a step has room for, at least one
    pages     int, pages of the cache, of 16 tokens each

Return for each step the numbers of the requests that get a token in it;
an idle step is an empty list. Requests are numbered from 0. A step
makes one token for each of its requests, and the first one goes through
the prompt as well.

A request that has begun is in every step until it has all its tokens.
From its first step to its last it keeps the pages of its prompt and of
its output, but for the last token, which needs no place. All that are
in one step must find their pages.

Two things are graded. Together the requests take no more steps than if
each began as early as first come, first served lets it; the tokens per
step follow from that. And no request begins more than 4 steps later
than that order lets it begin. No request needs more pages than there
are; there may be none at all.
"""


def in_flight_batching(requests, slots, pages):
    # answer
    schedule = []
    waiting = list(range(len(requests)))
    left = [request["output"] for request in requests]
    running = []

    def held(number):
        request = requests[number]
        return (request["prompt"] + request["output"] + 14) // 16

    while waiting or running:
        step = len(schedule)
        while waiting and len(running) < slots:
            first = waiting[0]
            if requests[first]["arrives"] > step:
                break
            if sum(map(held, [*running, first])) > pages:
                break
            running.append(waiting.pop(0))
        schedule.append(list(running))
        for number in running:
            left[number] -= 1
        running = [number for number in running if left[number]]
    return schedule
    # end answer
