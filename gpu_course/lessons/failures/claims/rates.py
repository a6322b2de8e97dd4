"""How often clusters fail, and what that leaves: rates carried from one cluster to another."""

from __future__ import annotations

import math

from gpu_course.claims.models import model
from gpu_course.lessons.failures.cluster import (
    HOUR_S,
    LLAMA_3_GPU_HOURS,
    NODE_GPUS,
    Cluster,
    Parts,
    Saving,
    best_interval_s,
    expected_goodput,
)
from gpu_course.units import TERA


@model()
def interruptions(**causes: float) -> float:
    """Returns how many there were of all causes together."""
    return sum(causes.values())


@model("rate")
def hours_at_llama_3_rate(gpus: float) -> float:
    """Returns the hours between failures of so many GPUs, at the rate of Llama 3's 54 days."""
    return LLAMA_3_GPU_HOURS / gpus


@model("rate")
def failures_a_day_at_llama_3_rate(gpus: float) -> float:
    """Returns the failures in a day of so many GPUs, at the rate of Llama 3's 54 days."""
    return 24 * gpus / LLAMA_3_GPU_HOURS


@model()
def hours_of_larger_job(gpus: float, days: float, small: float) -> float:
    """Returns the hours between failures, where a job of `small` GPUs has so many days."""
    return 24 * days * small / gpus


@model()
def hours_of_node_rate(gpus: float, per_1000_node_days: float) -> float:
    """Returns the hours between failures of so many GPUs, eight to a node."""
    return 24 * 1000 / per_1000_node_days / (gpus / NODE_GPUS)


@model()
def failures_of_the_other_cluster(per_1000_node_days: float) -> float:
    """Returns the rate of one cluster as it is, for another of the same owner."""
    return per_1000_node_days


@model()
def restarts_of_failures(a_day: float, days: float) -> float:
    """Returns the restarts of a run, where each failed machine takes one."""
    return a_day * days


@model()
def days_of_longest_run(runs: float, mean_hours: float) -> float:
    """Returns the days of the longest of so many runs, in the middle of what chance makes of it."""
    return -math.log(1 - 0.5 ** (1 / runs)) * mean_hours / 24


@model("memory")
def terabytes_of_checkpoint(billion_parameters: float, parameter_bytes: float) -> float:
    """Returns the TB of a checkpoint with so many bytes for each parameter."""
    return billion_parameters * 1e9 * parameter_bytes / TERA


@model()
def terabytes_of_files(files: float, gigabytes: float) -> float:
    """Returns the TB of so many files."""
    return files * gigabytes / 1e3


@model()
def percent_at_best_interval(mtbf_hours: float, stop_s: float, restart_s: float) -> float:
    """Returns the goodput in per cent, with the best interval between checkpoints."""
    job = Cluster(1, Parts(mtbf_hours * HOUR_S), Saving(1.0, stop_s, restart_s))
    return 100 * expected_goodput(job.saving_every(best_interval_s(job)))


@model()
def percent_of_repairs(repairs: float, minutes: float, weeks: float) -> float:
    """Returns the useful share in per cent, where repairs alone cost time."""
    return 100 * (1 - repairs * minutes / (weeks * 7 * 24 * 60))


@model()
def seconds_at_one_rank(seconds: float, ranks: float) -> float:
    """Returns a time that grew with the square of the ranks, as it is where it grows with them."""
    return seconds / ranks


@model()
def flop_of_training_e23(
    layers: float, hidden: float, vocabulary: float, sequence: float, billion_tokens: float
) -> float:
    """Returns the FLOP of a training run with full recomputation, in 10^23.

    Source: Narayanan and others 2021, equation 3: 96 B s l h^2 (1 + s/(6h) + V/(16lh)).
    """
    extra = 1 + sequence / (6 * hidden) + vocabulary / (16 * layers * hidden)
    return 96 * billion_tokens * 1e9 * layers * hidden**2 * extra / 1e23


@model()
def days_of_training(flop_e23: float, gpus: float, tflops: float) -> float:
    """Returns the days that so many FLOP take, given in 10^23."""
    return flop_e23 * 1e23 / (gpus * tflops * TERA) / 86_400
