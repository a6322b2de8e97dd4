"""What answers a hand: a picture that follows a slider, a launch in steps, a schedule to move.

`explore` draws anew while one of its `controls` moves. `step_through` goes through a launch of the
learner's own, and `replay` through an order in which its race shows; `tries` says how far that
search has come. `pipeline_board` is a schedule in the page, with a script beside it.
"""
