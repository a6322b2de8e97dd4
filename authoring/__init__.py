"""Builds stubs and notebooks from the hand-written sources: `python -m authoring`."""
