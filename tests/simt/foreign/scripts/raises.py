"""Fails on the host, in a function, while it handles another failure."""


def fail():
    try:
        return 1 // 0
    except ZeroDivisionError:
        return int("no number")


fail()
