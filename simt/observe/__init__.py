"""Observers: each turns the accesses of a launch into one part of its Report; none knows another.

`races` finds hazards; `explain` and `words` tell these and the interpreter's faults. `transactions`
and `counts` give counters. `touches` and `shares` keep which thread touched which cell,
`recorder` a launch statement by statement. `simulator.py` joins them.
"""
