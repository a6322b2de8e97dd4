"""Schedules for a chain of stages: what to keep, what to run again, and what that costs."""
