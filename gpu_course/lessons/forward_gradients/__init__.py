"""Lesson 19: gradients without a backward pass."""
