"""Bytes of a training run: measured on real modules over time, and counted by formula."""
