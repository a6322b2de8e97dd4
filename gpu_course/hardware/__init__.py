"""Real GPUs: what datasheets say about them, and what this machine has."""
