"""The engine under its old names: `python -m gpu_course.simt` and `-p gpu_course.simt.pytest`.

The engine itself is the package `simt`. What scripts and projects have in their files still works.
"""
