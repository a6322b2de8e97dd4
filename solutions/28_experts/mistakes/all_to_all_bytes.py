"""Wrong answers to all_to_all_bytes that people give."""


def checked(experts, total):
    """Raises a ValueError where a choice is no expert."""
    for chosen in experts:
        if any(each < -1 or each >= total for each in chosen):
            raise ValueError("no such expert")


def rows(experts, rank, per_rank, per_node):
    """Returns how many rows cross NVLink, and how many RDMA."""
    node, place = divmod(rank, per_node)
    nvlink = rdma = 0
    for chosen in experts:
        ranks = {expert // per_rank for expert in chosen if expert >= 0}
        nodes = {each // per_node for each in ranks}
        have = {each * per_node + place for each in nodes | {node}}
        nvlink += len(ranks - have)
        rdma += len(nodes - {node})
    return nvlink, rdma


def in_fp8(width):
    return width + 4 * -(-width // 128)


def both_ways(nvlink, rdma, width):
    """Returns the bytes of so many rows, there and back."""
    there, back = in_fp8(width), 2 * width
    return (nvlink * there, rdma * there), (nvlink * back, rdma * back)


# wrong-result, once-for-each-expert: k rows for a token.
def a_row_for_each_expert(experts, rank, per_rank, per_node, total, width):
    checked(experts, total)
    node, _ = divmod(rank, per_node)
    nvlink = rdma = 0
    for chosen in experts:
        goals = [expert // per_rank for expert in chosen if expert >= 0]
        nvlink += sum(each != rank and each // per_node == node for each in goals)
        rdma += sum(each // per_node != node for each in goals)
    return both_ways(nvlink, rdma, width)


# wrong-result, once-for-each-rank: Each rank gets what it needs.
def straight_to_each_rank(experts, rank, per_rank, per_node, total, width):
    checked(experts, total)
    node, _ = divmod(rank, per_node)
    nvlink = rdma = 0
    for chosen in experts:
        ranks = {expert // per_rank for expert in chosen if expert >= 0}
        nvlink += sum(each != rank and each // per_node == node for each in ranks)
        rdma += sum(each // per_node != node for each in ranks)
    return both_ways(nvlink, rdma, width)


# wrong-result, landing-counted: From where it lands to all who need it.
def forwards_to_the_landing_rank(experts, rank, per_rank, per_node, total, width):
    checked(experts, total)
    node, _ = divmod(rank, per_node)
    nvlink = rdma = 0
    for chosen in experts:
        ranks = {expert // per_rank for expert in chosen if expert >= 0}
        nodes = {each // per_node for each in ranks}
        nvlink += len(ranks - {rank})
        rdma += len(nodes - {node})
    return both_ways(nvlink, rdma, width)


# wrong-result, not-forwarded: Once for each node, and inside home as before.
def forgets_to_forward(experts, rank, per_rank, per_node, total, width):
    checked(experts, total)
    node, _ = divmod(rank, per_node)
    nvlink = rdma = 0
    for chosen in experts:
        ranks = {expert // per_rank for expert in chosen if expert >= 0}
        nodes = {each // per_node for each in ranks}
        nvlink += sum(each != rank and each // per_node == node for each in ranks)
        rdma += len(nodes - {node})
    return both_ways(nvlink, rdma, width)


# wrong-result, own-rank-counted: An expert is an expert.
def counts_its_own_rank(experts, rank, per_rank, per_node, total, width):
    checked(experts, total)
    node, place = divmod(rank, per_node)
    nvlink = rdma = 0
    for chosen in experts:
        ranks = {expert // per_rank for expert in chosen if expert >= 0}
        nodes = {each // per_node for each in ranks}
        landed = {each * per_node + place for each in nodes - {node}}
        nvlink += len(ranks - landed)
        rdma += len(nodes - {node})
    return both_ways(nvlink, rdma, width)


# wrong-result, lands-on-the-first: Somebody has to take it in.
def lands_on_the_first_rank(experts, rank, per_rank, per_node, total, width):
    checked(experts, total)
    node, _ = divmod(rank, per_node)
    nvlink = rdma = 0
    for chosen in experts:
        ranks = {expert // per_rank for expert in chosen if expert >= 0}
        nodes = {each // per_node for each in ranks}
        landed = {each * per_node for each in nodes - {node}}
        nvlink += len(ranks - landed - {rank})
        rdma += len(nodes - {node})
    return both_ways(nvlink, rdma, width)


# wrong-result, no-scales: FP8 is a byte.
def one_byte_a_number(experts, rank, per_rank, per_node, total, width):
    checked(experts, total)
    nvlink, rdma = rows(experts, rank, per_rank, per_node)
    there, back = width, 2 * width
    return (nvlink * there, rdma * there), (nvlink * back, rdma * back)


# wrong-result, scales-rounded-down: How often 128 goes into it.
def whole_blocks_alone(experts, rank, per_rank, per_node, total, width):
    checked(experts, total)
    nvlink, rdma = rows(experts, rank, per_rank, per_node)
    there, back = width + 4 * (width // 128), 2 * width
    return (nvlink * there, rdma * there), (nvlink * back, rdma * back)


# wrong-result, one-scale: A row is scaled.
def a_scale_for_a_row(experts, rank, per_rank, per_node, total, width):
    checked(experts, total)
    nvlink, rdma = rows(experts, rank, per_rank, per_node)
    there, back = width + 4, 2 * width
    return (nvlink * there, rdma * there), (nvlink * back, rdma * back)


# wrong-result, fp8-both-ways: The same rows come back.
def fp8_there_and_back(experts, rank, per_rank, per_node, total, width):
    checked(experts, total)
    nvlink, rdma = rows(experts, rank, per_rank, per_node)
    there, back = in_fp8(width), in_fp8(width)
    return (nvlink * there, rdma * there), (nvlink * back, rdma * back)


# wrong-result, bf16-both-ways: The model is in BF16.
def bf16_there_and_back(experts, rank, per_rank, per_node, total, width):
    checked(experts, total)
    nvlink, rdma = rows(experts, rank, per_rank, per_node)
    there, back = 2 * width, 2 * width
    return (nvlink * there, rdma * there), (nvlink * back, rdma * back)


# wrong-result, links-swapped: The slow link first, since it counts.
def slow_link_first(experts, rank, per_rank, per_node, total, width):
    checked(experts, total)
    nvlink, rdma = rows(experts, rank, per_rank, per_node)
    return both_ways(rdma, nvlink, width)


# wrong-result, ways-swapped: What comes back is what one waits for.
def way_back_first(experts, rank, per_rank, per_node, total, width):
    checked(experts, total)
    nvlink, rdma = rows(experts, rank, per_rank, per_node)
    there, back = both_ways(nvlink, rdma, width)
    return back, there


# wrong-result, dropped-counted: All choices go somewhere.
def sends_dropped_choices(experts, rank, per_rank, per_node, total, width):
    checked(experts, total)
    node, place = divmod(rank, per_node)
    nvlink = rdma = 0
    for chosen in experts:
        ranks = {expert // per_rank for expert in chosen}
        nodes = {each // per_node for each in ranks}
        have = {each * per_node + place for each in nodes | {node}}
        nvlink += len(ranks - have)
        rdma += len(nodes - {node})
    return both_ways(nvlink, rdma, width)


# wrong-result, not-refused: A router knows its experts.
def takes_any_number(experts, rank, per_rank, per_node, total, width):
    nvlink, rdma = rows(experts, rank, per_rank, per_node)
    return both_ways(nvlink, rdma, width)


# wrong-result, refused: What is below 0 is no expert.
def refuses_dropped_choices(experts, rank, per_rank, per_node, total, width):
    if any(each < 0 for chosen in experts for each in chosen):
        raise ValueError("no such expert")
    checked(experts, total)
    nvlink, rdma = rows(experts, rank, per_rank, per_node)
    return both_ways(nvlink, rdma, width)
