"""What NVIDIA's compiler makes of a kernel, on a machine without a GPU: PTX, SASS, registers."""
