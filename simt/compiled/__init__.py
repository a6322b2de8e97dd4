"""Launches compiled to one loop over the lanes of a block for each statement, with all detectors.

It is a filter for clean launches: it finds the same results and the same counts, and at the first
sign of a hazard it gives up, so that the interpreter runs the launch again and says what is wrong.
"""
