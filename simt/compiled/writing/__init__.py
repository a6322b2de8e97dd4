"""Writes a kernel as a function in LLVM's language that runs one block, and counts as it goes."""
