"""Wrong answers to accumulate that people give."""

import torch


# wrong-result, means-added: Each part's loss is a mean of its own: their gradients add up to
# `parts` times too much.
def adds_up_means(model, loss, x, y, parts):
    for rows, targets in zip(x.tensor_split(parts), y.tensor_split(parts)):
        loss(model(rows), targets).backward()


# wrong-result, same-weights: Right where the parts are equally large, and nowhere else.
def every_part_weighs_the_same(model, loss, x, y, parts):
    for rows, targets in zip(x.tensor_split(parts), y.tensor_split(parts)):
        (loss(model(rows), targets) / parts).backward()


# wrong-result, last-part-only: The habit of a training loop: zero_grad(), forward, backward, for
# each part anew.
def clears_between_parts(model, loss, x, y, parts):
    for rows, targets in zip(x.tensor_split(parts), y.tensor_split(parts)):
        model.zero_grad()
        loss(model(rows), targets).backward()


# wrong-result, last-part-only: The habit of a training loop, with the right weights.
def clears_and_weighs(model, loss, x, y, parts):
    for rows, targets in zip(x.tensor_split(parts), y.tensor_split(parts)):
        model.zero_grad()
        (loss(model(rows), targets) * (len(rows) / len(x))).backward()


# wrong-result, last-part-only: The habit of a training loop, with one weight for all.
def clears_and_divides(model, loss, x, y, parts):
    for rows, targets in zip(x.tensor_split(parts), y.tensor_split(parts)):
        model.zero_grad()
        (loss(model(rows), targets) / parts).backward()


# over-budget, all-graphs: One graph over all parts: every activation waits for the single
# backward pass.
def one_backward_at_the_end(model, loss, x, y, parts):
    total = 0
    for rows, targets in zip(x.tensor_split(parts), y.tensor_split(parts)):
        total = total + loss(model(rows), targets) * (len(rows) / len(x))
    total.backward()


# over-budget, whole-batch: The right gradient by the plain way.
def the_whole_batch(model, loss, x, y, parts):
    loss(model(x), y).backward()


# wrong-result, rest-dropped: Drops the rows that do not divide.
def drops_the_rest(model, loss, x, y, parts):
    size = len(x) // parts
    for start in range(0, size * parts, size):
        part = slice(start, start + size)
        (loss(model(x[part]), y[part]) / parts).backward()


# over-budget, all-graphs: Keeps every part's graph for a second backward pass that never comes.
def retains_the_graphs(model, loss, x, y, parts):
    kept = []
    for rows, targets in zip(x.tensor_split(parts), y.tensor_split(parts)):
        part_loss = loss(model(rows), targets) * (len(rows) / len(x))
        part_loss.backward(retain_graph=True)
        kept.append(part_loss)


# wrong-result, no-gradient: Ends like a training loop does, and throws the result away.
def clears_at_the_end(model, loss, x, y, parts):
    for rows, targets in zip(x.tensor_split(parts), y.tensor_split(parts)):
        (loss(model(rows), targets) * (len(rows) / len(x))).backward()
    model.zero_grad()


# over-budget, second-gradients: zero_grad() sets .grad to None: backward() then makes a second
# set of gradients.
def clears_before_the_first_part(model, loss, x, y, parts):
    model.zero_grad()
    for rows, targets in zip(x.tensor_split(parts), y.tensor_split(parts)):
        (loss(model(rows), targets) * (len(rows) / len(x))).backward()


# wrong-result, model-changed: The whole training step, where the gradient alone was asked for.
def makes_the_update_too(model, loss, x, y, parts):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for rows, targets in zip(x.tensor_split(parts), y.tensor_split(parts)):
        (loss(model(rows), targets) * (len(rows) / len(x))).backward()
    optimizer.step()


# over-budget, rest-in-one: What does not divide goes to the last part, which grows to nearly two.
def the_rest_in_the_last_part(model, loss, x, y, parts):
    size = len(x) // parts
    starts = [part * size for part in range(parts)]
    for start, stop in zip(starts, [*starts[1:], len(x)], strict=True):
        share = (stop - start) / len(x)
        (loss(model(x[start:stop]), y[start:stop]) * share).backward()


# wrong-result, same-weights: chunk cuts otherwise than tensor_split, and its parts are no more
# equal.
def chunks_weigh_the_same(model, loss, x, y, parts):
    for rows, targets in zip(x.chunk(parts), y.chunk(parts)):
        (loss(model(rows), targets) / parts).backward()


# wrong-result, parts-missing: Begins, and leaves it at that.
def the_first_part_alone(model, loss, x, y, parts):
    rows, targets = x.tensor_split(parts)[0], y.tensor_split(parts)[0]
    loss(model(rows), targets).backward()


# wrong-result, parts-missing: One round too few.
def without_the_last_part(model, loss, x, y, parts):
    pairs = list(zip(x.tensor_split(parts), y.tensor_split(parts)))
    for rows, targets in pairs[: parts - 1]:
        (loss(model(rows), targets) * (len(rows) / len(x))).backward()


# wrong-result, zeros: Adds up the losses, and never goes back.
def never_goes_back(model, loss, x, y, parts):
    total = 0
    for rows, targets in zip(x.tensor_split(parts), y.tensor_split(parts)):
        total += loss(model(rows), targets).item() * len(rows) / len(x)


# over-budget, all-graphs: split takes how many rows a part has, not how many parts there are.
def parts_of_so_many_rows(model, loss, x, y, parts):
    for rows, targets in zip(x.split(parts), y.split(parts)):
        (loss(model(rows), targets) * (len(rows) / len(x))).backward()
