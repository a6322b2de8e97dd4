"""Published runs beside what the planner says of them: what `python -m benchmarks.planner` prints.

`planner_memory` has the bytes and `planner_time` the steps. Rows whose values are still kept back
stand in `benchmarks/sealed`.
"""
