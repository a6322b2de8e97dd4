"""Mixtures of experts: who goes where, how loads are kept even, what crosses, and how it runs.

Import from the modules: `routing` (NumPy), `traffic` (bytes) and `exchange` (PyTorch, on ranks).
"""
