"""What a kernel may say: names under `cuda.`, `math.` and Python's own, with types and meaning."""
