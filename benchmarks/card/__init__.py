"""What a real GPU does, beside what the simulator says of it: `make gpu` runs this room.

`gpu_parts` has the parts of that run, each item a job for a process of its own. `nsight` lays the
simulator's counters beside those that Nsight Compute reads: `nsight_cases` says what is launched of
`nsight_kernels`, and `nsight_solutions` does the same for the course's solutions. What was found
stands in `benchmarks/records`.
"""
