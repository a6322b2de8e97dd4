"""Runs other people's scripts: anything that says `from numba import cuda`, on the simulator.

`script` runs one and prints the hazards of its launches; `python -m simt SCRIPT` calls
it. `stand_in` puts `cuda` in the place of `numba.cuda` for the process, and the other files are
what a script calls on the host: `dispatcher` makes and launches kernels, `device_array` and
`device_memory` hold their arrays, `ufuncs` makes functions of arrays, `host_api` has streams,
events and devices. `sources` keeps the texts of what a script makes by `exec`, and `extending`
takes what extends Numba's compiler, without asking it. `without_numba` is what a script finds for
`numba` itself where that is not installed.
"""
