"""Wrong answers to selective_plan that people give."""


def greedily(products, budget, worth):
    """Takes products by falling worth as long as they fit."""
    chosen, used = [], 0
    for number in sorted(range(len(products)), key=lambda n: (-worth(products[n]), n)):
        if used + products[number]["bytes"] <= budget:
            chosen.append(number)
            used += products[number]["bytes"]
    return chosen


# over-budget, not-the-best: Whatever fits, from the front.
def the_first_that_fit(products, budget):
    return greedily(products, budget, lambda product: 0)


# over-budget, not-the-best: FLOP per byte, the best first: one product too large may still be the
# better choice.
def by_flops_per_byte(products, budget):
    return greedily(products, budget, lambda product: product["flops"] / product["bytes"])


# over-budget, not-the-best: The most expensive products first, however large they are.
def the_most_expensive_first(products, budget):
    return greedily(products, budget, lambda product: product["flops"])


# over-budget, not-the-best: The smallest first: as many as possible.
def as_many_as_possible(products, budget):
    return greedily(products, budget, lambda product: -product["bytes"])


# over-budget, too-much-saved: Saves it all.
def saves_everything(products, budget):
    return list(range(len(products)))


# over-budget, room-left: Runs it all again.
def saves_nothing(products, budget):
    return []


# over-budget, too-much-saved: Picks what to run again, and hands that over.
def the_other_way_round(products, budget):
    saved = selective_plan_right(products, budget)
    return [number for number in range(len(products)) if number not in saved]


# over-budget, room-left: Thinks that what only a saved product needs is not run again: torch runs
# it all the same.
def only_what_is_needed(products, budget):
    chosen, used, follows_saved = [], 0, False
    for number in reversed(range(len(products))):
        size = products[number]["bytes"]
        # What comes right before a saved product is thought to be free.
        if not follows_saved and used + size <= budget:
            chosen.append(number)
            used += size
            follows_saved = True
        else:
            follows_saved = False
    return chosen


def selective_plan_right(products, budget):
    """The best choice, for the mistake that turns it round."""
    best = {0: (0, ())}
    for number, product in enumerate(products):
        for used, (flops, chosen) in list(best.items()):
            more = used + product["bytes"]
            if more <= budget:
                found = flops + product["flops"], (*chosen, number)
                best[more] = max(best.get(more, (-1, ())), found)
    return max(best.values())[1]


# over-budget, too-much-saved: Lets the last product go a little over the budget.
def one_too_many(products, budget):
    right = list(selective_plan_right(products, budget))
    left = [number for number in range(len(products)) if number not in right]
    return [*right, min(left, key=lambda n: products[n]["bytes"])] if left else right


# wrong-result, wrong-type: Names instead of numbers.
def names_of_products(products, budget):
    return [products[number]["name"] for number in selective_plan_right(products, budget)]


# over-budget, not-the-best: Saves as many bytes as fit, and takes these for the best.
def fills_the_budget(products, budget):
    best = {0: (0, ())}
    for number, product in enumerate(products):
        for used, (flops, chosen) in list(best.items()):
            more = used + product["bytes"]
            if more <= budget:
                found = flops + product["flops"], (*chosen, number)
                best[more] = max(best.get(more, (-1, ())), found)
    return list(best[max(best)][1])
