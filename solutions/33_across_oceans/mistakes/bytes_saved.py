"""Wrong answers to bytes_saved that people give."""

import math


def _refuse(ranks, h, link, goal):
    if not 0 < goal < 1 or link["bytes_per_s"] <= 0 or ranks < 1 or h < 1:
        raise ValueError("what cannot be")


def _outer(parameters, width, block):
    return parameters * width + (4 * math.ceil(parameters / block) if block else 0)


def _fewest(ranks, sent, link, step_s, goal):
    meeting_s = 2 * (ranks - 1) * link["latency_s"] + sent / link["bytes_per_s"]
    return max(1, math.ceil(goal * meeting_s / (step_s * (1 - goal))))


# wrong-result, no-ring: An all-reduce sends what there is.
def sends_it_once(parameters, ranks, h, width, block, link, step_s, goal):
    _refuse(ranks, h, link, goal)
    sent = _outer(parameters, width, block)
    return 4 * parameters, sent / h, _fewest(ranks, sent, link, step_s, goal)


# wrong-result, half-a-ring: (n - 1) / n, as for a reduce-scatter.
def goes_round_once(parameters, ranks, h, width, block, link, step_s, goal):
    _refuse(ranks, h, link, goal)
    share = (ranks - 1) / ranks
    sent = share * _outer(parameters, width, block)
    return share * 4 * parameters, sent / h, _fewest(ranks, sent, link, step_s, goal)


# wrong-result, all-to-one: Everybody's bytes count.
def counts_all_ranks(parameters, ranks, h, width, block, link, step_s, goal):
    _refuse(ranks, h, link, goal)
    sent = 2 * (ranks - 1) * _outer(parameters, width, block)
    dp = 2 * (ranks - 1) * 4 * parameters
    return dp, sent / h, _fewest(ranks, sent, link, step_s, goal)


# wrong-result, no-scales: int8 is a byte for each number.
def leaves_out_the_scales(parameters, ranks, h, width, block, link, step_s, goal):
    _refuse(ranks, h, link, goal)
    share = 2 * (ranks - 1) / ranks
    sent = share * width * parameters
    return share * 4 * parameters, sent / h, _fewest(ranks, sent, link, step_s, goal)


# wrong-result, scale-each: A scale for each number.
def a_scale_for_each_number(parameters, ranks, h, width, block, link, step_s, goal):
    _refuse(ranks, h, link, goal)
    share = 2 * (ranks - 1) / ranks
    sent = share * (width + 4 * bool(block)) * parameters
    return share * 4 * parameters, sent / h, _fewest(ranks, sent, link, step_s, goal)


# wrong-result, full-blocks: parameters // block are the blocks.
def counts_full_blocks(parameters, ranks, h, width, block, link, step_s, goal):
    _refuse(ranks, h, link, goal)
    share = 2 * (ranks - 1) / ranks
    sent = share * (width * parameters + (4 * (parameters // block) if block else 0))
    return share * 4 * parameters, sent / h, _fewest(ranks, sent, link, step_s, goal)


# wrong-result, per-round: What a round sends.
def for_a_round(parameters, ranks, h, width, block, link, step_s, goal):
    _refuse(ranks, h, link, goal)
    share = 2 * (ranks - 1) / ranks
    sent = share * _outer(parameters, width, block)
    return share * 4 * parameters, sent, _fewest(ranks, sent, link, step_s, goal)


# wrong-result, as-narrow: Both send in the same width.
def dp_in_the_outer_width(parameters, ranks, h, width, block, link, step_s, goal):
    _refuse(ranks, h, link, goal)
    share = 2 * (ranks - 1) / ranks
    sent = share * _outer(parameters, width, block)
    return sent, sent / h, _fewest(ranks, sent, link, step_s, goal)


# wrong-result, no-latency: A slow link is slow in bytes.
def leaves_out_the_latency(parameters, ranks, h, width, block, link, step_s, goal):
    _refuse(ranks, h, link, goal)
    share = 2 * (ranks - 1) / ranks
    sent = share * _outer(parameters, width, block)
    meeting_s = sent / link["bytes_per_s"]
    fewest = max(1, math.ceil(goal * meeting_s / (step_s * (1 - goal))))
    return share * 4 * parameters, sent / h, fewest


# wrong-result, one-latency: An all-reduce is one message.
def one_message(parameters, ranks, h, width, block, link, step_s, goal):
    _refuse(ranks, h, link, goal)
    share = 2 * (ranks - 1) / ranks
    sent = share * _outer(parameters, width, block)
    meeting_s = (ranks > 1) * link["latency_s"] + sent / link["bytes_per_s"]
    fewest = max(1, math.ceil(goal * meeting_s / (step_s * (1 - goal))))
    return share * 4 * parameters, sent / h, fewest


# wrong-result, of-the-steps: The meeting may take the rest of the steps' time.
def measures_by_the_steps(parameters, ranks, h, width, block, link, step_s, goal):
    _refuse(ranks, h, link, goal)
    share = 2 * (ranks - 1) / ranks
    sent = share * _outer(parameters, width, block)
    meeting_s = 2 * (ranks - 1) * link["latency_s"] + sent / link["bytes_per_s"]
    fewest = max(1, math.ceil(meeting_s / (step_s * (1 - goal))))
    return share * 4 * parameters, sent / h, fewest


# wrong-result, as-long: The steps are to take as long as the meeting.
def as_long_as_the_meeting(parameters, ranks, h, width, block, link, step_s, goal):
    _refuse(ranks, h, link, goal)
    share = 2 * (ranks - 1) / ranks
    sent = share * _outer(parameters, width, block)
    meeting_s = 2 * (ranks - 1) * link["latency_s"] + sent / link["bytes_per_s"]
    return share * 4 * parameters, sent / h, max(1, math.ceil(meeting_s / step_s))


# wrong-result, bits: Links are measured in bits.
def eight_bits(parameters, ranks, h, width, block, link, step_s, goal):
    _refuse(ranks, h, link, goal)
    share = 2 * (ranks - 1) / ranks
    sent = share * _outer(parameters, width, block)
    return share * 4 * parameters, sent / h, _fewest(ranks, 8 * sent, link, step_s, goal)


# wrong-result, one-too-many: More than the goal, to be sure.
def more_than_the_goal(parameters, ranks, h, width, block, link, step_s, goal):
    _refuse(ranks, h, link, goal)
    share = 2 * (ranks - 1) / ranks
    sent = share * _outer(parameters, width, block)
    meeting_s = 2 * (ranks - 1) * link["latency_s"] + sent / link["bytes_per_s"]
    fewest = math.floor(goal * meeting_s / (step_s * (1 - goal))) + 1
    return share * 4 * parameters, sent / h, fewest


# wrong-result, rounded-down: int() makes a whole number.
def cuts_off_what_is_left(parameters, ranks, h, width, block, link, step_s, goal):
    _refuse(ranks, h, link, goal)
    share = 2 * (ranks - 1) / ranks
    sent = share * _outer(parameters, width, block)
    meeting_s = 2 * (ranks - 1) * link["latency_s"] + sent / link["bytes_per_s"]
    fewest = max(1, int(goal * meeting_s / (step_s * (1 - goal))))
    return share * 4 * parameters, sent / h, fewest


# wrong-result, zero-steps: One rank never has to meet.
def no_step_at_all(parameters, ranks, h, width, block, link, step_s, goal):
    _refuse(ranks, h, link, goal)
    share = 2 * (ranks - 1) / ranks
    sent = share * _outer(parameters, width, block)
    meeting_s = 2 * (ranks - 1) * link["latency_s"] + sent / link["bytes_per_s"]
    fewest = math.ceil(goal * meeting_s / (step_s * (1 - goal)))
    return share * 4 * parameters, sent / h, fewest


# wrong-result, not-refused: A goal of 0 is reached with 1 step.
def takes_any_goal(parameters, ranks, h, width, block, link, step_s, goal):
    share = 2 * (ranks - 1) / max(ranks, 1)
    sent = share * _outer(parameters, width, block)
    if not goal < 1 or link["bytes_per_s"] <= 0:
        return share * 4 * parameters, sent / max(h, 1), 1
    fewest = _fewest(ranks, sent, link, step_s, goal)
    return share * 4 * parameters, sent / max(h, 1), fewest
