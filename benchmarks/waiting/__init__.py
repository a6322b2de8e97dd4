"""How long a learner waits: parts of `make bench`, each with medians and what is bearable.

`checks`, `ranks` and `compiling` wait for a verdict and for `gpu-course compile`, `lessons` for a
notebook from top to bottom, `pictures` for what is drawn below a failed check, and `stepping` and
`pipeline_board` for what answers a hand.
"""
