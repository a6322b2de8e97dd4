"""What serves the learner whose answers these are.

`loop` checks on each save, `verdict_cache` keeps what was said of an answer, and `progress` counts
what has passed. `hints` come one at a time, `solution` stands beside an answer that is right, and a
`ledger` keeps what was guessed before an answer was shown.
"""
