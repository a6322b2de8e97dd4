"""What a learner asks about an answer: is it right, what next, how did you do it, how far am I.

`feedback` has `check`, `hint`, `diff` and `progress` as a lesson calls them; `hint_panel`,
`side_by_side` and `course_map` are what the last three show. `live` follows an answer file, and
shows a verdict after each save.
"""
