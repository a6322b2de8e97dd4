"""The check of a kernel: its text is interpreted, never executed.

`answers` reads what was handed in, `check` has the order of the verdict, `trial` runs a case,
`sharing` and `budgets` look at what it costs, and `messages` says what was found. `apart` has it
all done in a worker that can be ended, and `replaying` runs an answer in an order that makes its
output wrong.
"""
