"""What is particular to the puzzles of lesson 08."""

from __future__ import annotations
