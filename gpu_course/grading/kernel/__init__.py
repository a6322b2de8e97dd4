"""The check of a kernel: its text is interpreted, never executed.

`answers` reads what was handed in, `check` has the order of the verdict, `trial` runs a case,
`sharing` and `budgets` look at what it costs, `messages` says what was found, and `passing` what a
pass did. `on_card` runs the same answer on a real GPU, and `replaying` in an order that makes its
output wrong.
"""
