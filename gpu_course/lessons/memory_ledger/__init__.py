"""Lesson 16: the memory ledger of a training step."""
