"""schedule_peak: the memory and the cost of a given schedule.

    schedule_peak(stages, schedule) -> (peak, cost)

    stages    a list of dicts of whole numbers, 0 or more, one for each
              of one stage or more:
              output_bytes           of its output
              saved_bytes            what "save all" leaves beside its
                                     input and output
              forward_bytes          how far "forward" and "keep input"
                                     rise, the output included
              forward_saving_bytes   how far "save all" rises, output
                                     and saved included
              backward_bytes         how far "backward" rises above what
                                     is there
              output_gradient_bytes  of the gradient of its output
              forward_cost, backward_cost
    schedule  a list of (word, stage) that can be followed to its end.
              The words:
              "forward"     run the stage; save nothing, and drop its
                            input
              "keep input"  run the stage; save nothing but its input
              "save all"    run the stage; keep its input and all that
                            its backward pass needs
              "backward"    go back through the stage; drop all of it,
                            its input too

peak is the most memory in use at one time: what is there when an
operation begins, and how far it rises. cost is that of all operations.

The batch, the input of stage 0, takes no memory and is always there.
One gradient is there from the beginning: first that of the loss, the
output of the last stage; later that of the output of the stage that
goes back next. While a forward pass runs, its input is there as well,
kept or not.
"""

RISES = {
    "forward": "forward_bytes",
    "keep input": "forward_bytes",
    "save all": "forward_saving_bytes",
    "backward": "backward_bytes",
}


def schedule_peak(stages, schedule):
    # A value has the number of the stage it is the input of.
    kept = {0}  # values that stay
    saved = set()  # stages of which all was saved
    gradient = len(stages)  # of the output of the stage before this
    peak, cost = 0, 0
    for word, stage in schedule:
        here = stages[stage]
        # your code here (about 18 lines)
    return peak, cost
