"""Processes that hold code nobody vouches for: what they may do, what they are told, how they end.

`processes` is the side that asks, and `ranks` where several are forked together; `entry`,
`forkserver`, `steward` and `child` are the other side, which knows no puzzle; `transport` is what
crosses between them; `lockdown` joins the layers that hold an answer there, and `network` gives
ranks a network of their own.
"""
