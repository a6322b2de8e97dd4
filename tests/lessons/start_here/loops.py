"""What each kernel puzzle of lesson 00 asks for, as loops in plain Python."""

from __future__ import annotations


def add_ten(a):
    return {"out": [number + 10 for number in a]}
