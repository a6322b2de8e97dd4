"""Wrong answers to in_flight_batching that learners give."""


# over-budget, static: Fills the slots anew when all have ended.
def batch_after_batch(requests, slots, pages):
    schedule = []
    waiting = list(range(len(requests)))
    left = [request["output"] for request in requests]
    running = []

    def held(number):
        request = requests[number]
        return (request["prompt"] + request["output"] + 14) // 16

    while waiting or running:
        step = len(schedule)
        new = not running
        while new and waiting and len(running) < slots:
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


# over-budget, slots-idle: Lets one request begin in each step.
def one_a_step(requests, slots, pages):
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
            break
        schedule.append(list(running))
        for number in running:
            left[number] -= 1
        running = [number for number in running if left[number]]
    return schedule


# over-budget, slots-idle: Takes one request after the other.
def one_after_the_other(requests, slots, pages):
    schedule = []
    waiting = list(range(len(requests)))
    left = [request["output"] for request in requests]
    running = []

    def held(number):
        request = requests[number]
        return (request["prompt"] + request["output"] + 14) // 16

    while waiting or running:
        step = len(schedule)
        while waiting and len(running) < 1:
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


# over-budget, slots-idle: Takes the ended ones out only when others have begun.
def a_step_late(requests, slots, pages):
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
        running = [number for number in running if left[number]]
        if running or waiting:
            schedule.append(list(running))
        for number in running:
            left[number] -= 1
    return schedule


# over-budget, long-last: Lets the shortest begin first.
def shortest_first(requests, slots, pages):
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
            here = [k for k in waiting if requests[k]["arrives"] <= step]
            if not here:
                break
            first = min(here, key=lambda k: requests[k]["output"])
            if sum(map(held, [*running, first])) > pages:
                break
            running.append(first)
            waiting.remove(first)
        schedule.append(list(running))
        for number in running:
            left[number] -= 1
        running = [number for number in running if left[number]]
    return schedule


# over-budget, unfair: Lets the newest begin first.
def newest_first(requests, slots, pages):
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
            here = [k for k in waiting if requests[k]["arrives"] <= step]
            if not here:
                break
            first = here[-1]
            if sum(map(held, [*running, first])) > pages:
                break
            running.append(first)
            waiting.remove(first)
        schedule.append(list(running))
        for number in running:
            left[number] -= 1
        running = [number for number in running if left[number]]
    return schedule


# over-budget, unfair: Lets the longest begin first, so that it does not run alone.
def longest_first(requests, slots, pages):
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
            here = [k for k in waiting if requests[k]["arrives"] <= step]
            if not here:
                break
            first = max(here, key=lambda k: requests[k]["output"])
            if sum(map(held, [*running, first])) > pages:
                break
            running.append(first)
            waiting.remove(first)
        schedule.append(list(running))
        for number in running:
            left[number] -= 1
        running = [number for number in running if left[number]]
    return schedule


# wrong-result, pages: Asks for the pages of the prompt alone.
def pages_of_the_prompt(requests, slots, pages):
    schedule = []
    waiting = list(range(len(requests)))
    left = [request["output"] for request in requests]
    running = []

    def held(number):
        request = requests[number]
        return (request["prompt"] + 15) // 16

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


# wrong-result, pages: Leaves the pages out of account.
def no_pages(requests, slots, pages):
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
            running.append(waiting.pop(0))
        schedule.append(list(running))
        for number in running:
            left[number] -= 1
        running = [number for number in running if left[number]]
    return schedule


# wrong-result, slots: Lets one request too many in.
def one_too_many(requests, slots, pages):
    schedule = []
    waiting = list(range(len(requests)))
    left = [request["output"] for request in requests]
    running = []

    def held(number):
        request = requests[number]
        return (request["prompt"] + request["output"] + 14) // 16

    while waiting or running:
        step = len(schedule)
        while waiting and len(running) <= slots:
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


# wrong-result, early: Lets requests begin before they are there.
def before_they_arrive(requests, slots, pages):
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
            if sum(map(held, [*running, first])) > pages:
                break
            running.append(waiting.pop(0))
        schedule.append(list(running))
        for number in running:
            left[number] -= 1
        running = [number for number in running if left[number]]
    return schedule


# wrong-result, tokens: Makes a token too few.
def one_too_few(requests, slots, pages):
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
        running = [number for number in running if left[number] > 1]
    return schedule


# wrong-result, paused: Gives the slots to all in turn.
def in_turn(requests, slots, pages):
    schedule = []
    waiting = list(range(len(requests)))
    left = [request["output"] for request in requests]
    running = []

    def held(number):
        request = requests[number]
        return (request["prompt"] + request["output"] + 14) // 16

    while waiting or running:
        step = len(schedule)
        while waiting:
            first = waiting[0]
            if requests[first]["arrives"] > step:
                break
            if sum(map(held, [*running, first])) > pages:
                break
            running.append(waiting.pop(0))
        chosen = running[:slots]
        schedule.append(chosen)
        for number in chosen:
            left[number] -= 1
        running = [n for n in [*running[slots:], *chosen] if left[n]]
    return schedule
