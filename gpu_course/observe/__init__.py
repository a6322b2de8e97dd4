"""Observers: each turns the access stream into one part of the Report; none knows another."""
