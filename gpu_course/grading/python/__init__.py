"""The check of an answer in Python, which runs in a process of its own (see `isolation`).

`answers` reads what was handed in, `cases` draws what goes in and what should come out, `child`
talks with the process, `replies` reads what it says, and `check` has the order of the verdict.
"""
