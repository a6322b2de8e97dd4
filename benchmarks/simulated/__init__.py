"""How fast the simulator is: what `simulator.py` launches, and two more parts of `make bench`.

`cases` has the launches and their results in NumPy, `kernels` what is launched, and `compiled` the
same as loops on one core. `first_launch`, `memory` and `numba_side` run in processes of their own.
`launches` asks what a small launch costs in a loop of many, and `ragged` what a loop costs whose
length differs from block to block.
"""
