"""beat_zb_2p: let a search fill the bubbles.

    beat_zb_2p(ranks, microbatches, times, comm, memory, limit)
        -> a list of orders

    ranks         how many there are; rank r holds stage r
    microbatches  how many there are
    times         (F, I, W): what each takes, in ms
    comm          from the end of an action to when the next rank has
                  its result, in ms; nobody is busy with it
    memory        (added, kept): what F adds on its rank, and what of it
                  stays from I to W; I gives back the rest, W gives back
                  what was kept
    limit         the most that a rank may hold

Return a list with an order for each rank, each a list of actions such
as "2F5", "2I5" and "2W5", as in the puzzles before. The bubble rate is
the share of the longest time from a rank's first start to its last end
in which it has nothing to do. It may be half as large as that of ZB-H2
at the same times and messages, or 1 %; and where no order reaches that,
one tenth larger than the bound that the lesson works out. What counts
is the rate: the lower the better. Each pipeline may take ten seconds.
"""

import heapq


def beat_zb_2p(ranks, microbatches, times, comm, memory, limit):
    # answer
    never = float("inf")

    def follow(f_share, w_share):
        """Orders and cost, every rank taking what it can."""
        done = [[0, 0, 0] for _ in range(ranks)]
        held, free = [0.0] * ranks, [0.0] * ranks
        first = [never] * ranks
        come = [[[never] * (microbatches + 1) for _ in range(ranks)]]
        come.append([[*row] for row in come[0]])
        come[0][0][:microbatches] = [0.0] * microbatches
        orders = [[] for _ in range(ranks)]
        events = [(0.0, rank) for rank in range(ranks)]

        def choose(rank, now):
            f, i, w = done[rank]
            room = held[rank] + memory[0] <= limit + 1e-9
            forward = come[0][rank][f] if room else never
            back = come[1][rank][i]
            soon = now + 1e-9
            if back <= soon:
                return 1, never
            late = back + f_share * times[1]
            if forward <= soon and now + times[0] <= late:
                return 0, never
            known = back if forward <= soon else min(back, forward)
            if w < i and now + times[2] * (1 - w_share) <= known:
                return 2, never
            return None, known

        while events:
            now, rank = heapq.heappop(events)
            if now < free[rank] - 1e-9:
                continue
            kind, again = choose(rank, now)
            if kind is None:
                if again < never:
                    heapq.heappush(events, (again, rank))
                continue
            number = done[rank][kind]
            done[rank][kind] += 1
            held[rank] += (memory[0], memory[1] - memory[0], -memory[1])[kind]
            first[rank] = min(first[rank], now)
            end = free[rank] = now + times[kind]
            orders[rank].append(f"{rank}{'FIW'[kind]}{number}")
            heapq.heappush(events, (end, rank))
            other = rank + (1, -1, ranks)[kind]
            if kind == 0 and other == ranks:
                come[1][rank][number] = end
            elif 0 <= other < ranks:
                come[kind][other][number] = end + comm
                heapq.heappush(events, (max(end + comm, free[other]), other))
        if any(w < microbatches for _, _, w in done):
            return never, orders
        return max(e - s for e, s in zip(free, first, strict=True)), orders

    f_shares = [each / 10 for each in range(1, 13)]
    w_shares = [0.0, 0.03, 0.1, 0.2, 0.5, 1.0]
    tried = (follow(f, w) for f in f_shares for w in w_shares)
    return min(tried, key=lambda each: each[0])[1]
    # end answer
