"""Counting a training run: real modules, the bytes they hold over time, and where those go."""
