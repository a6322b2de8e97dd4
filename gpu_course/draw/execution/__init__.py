"""Pictures of kernels as they run: threads, warps, memory, blocks on an SM, and their limits."""
