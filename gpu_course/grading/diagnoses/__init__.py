"""What is wrong with a result: where it differs, what that looks like, and what it usually means.

`compare` finds where a value first differs from what it should be, `patterns` what a whole array
looks like, and `sentences` has what is said of each diagnosis where a puzzle says nothing itself.
"""
