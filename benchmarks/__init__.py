"""What is measured, and what makes the records: each file here is a command, made of rooms beneath.

How fast it is: `simulator` and `worth` (the engine), `engine` (a fresh installation of it),
`restart` (ranks that come back); and `make bench`, which runs `waiting`, `searches` and
`simulated`. Whether it is right: `gpu` (`make gpu`) and `nsight_solutions` on a real GPU;
`both_ways`, `planted_filter` and `digest` for the simulator; `scripts` and `suites` on code of
others; `planner` beside published runs; `sealed` on values that are kept back. What compilers make
of our code: `compiled_kernels` and each `record_...`. How the code itself lies: `house`.

A room imports no command, and of the other rooms none; a test holds it, and that every command
which the pages name is there. `records` holds what was measured.
"""
