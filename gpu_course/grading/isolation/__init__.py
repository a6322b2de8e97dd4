"""The process an answer in Python runs in: what it may do, what it is told, how it is ended.

`processes` is the grader's side; `entry`, `forkserver` and `child` are the other side, which knows
no puzzle; `transport` is what crosses between them; `lockdown` joins the layers that hold an answer
there.
"""
