"""A kernel that prints, between two lines of the host."""

from numba import cuda


@cuda.jit
def speak(n):
    i = cuda.grid(1)
    if i < n:
        print(i, i * 0.5)


print("before")
speak[1, 32](2)
print("after")
