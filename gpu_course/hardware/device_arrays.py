"""Arrays that lie on the GPU already: PyTorch's and CuPy's, taken without a copy.

A kernel of Numba takes any object with `__cuda_array_interface__` as it is; so do `run_natively`
and `time_natively`. What such an array holds afterwards is what the kernel left in it.

Source: Numba CUDA documentation, "CUDA Array Interface (Version 3)".
"""

from __future__ import annotations

from typing import Any

from gpu_course.errors import CourseError


def on_gpu(name: str, value: Any) -> bool:
    """Returns whether a value is an array in a GPU's memory.

    Args:
        name: how errors call it.
        value: what a launch was given.

    Raises:
        CourseError: it is a tensor that autograd watches, or one on the CPU.
    """
    if getattr(value, "requires_grad", False):
        raise CourseError(
            f"a kernel is unknown to autograd, and {name} requires a gradient",
            f"pass {name}.detach(), which is the same memory",
        )
    if hasattr(value, "__cuda_array_interface__"):
        return True
    if hasattr(value, "__dlpack_device__"):
        raise CourseError(
            f"{name} is a {type(value).__name__} that does not lie on the GPU",
            f"pass {name}.cuda() to work on it there, or a NumPy array, which is copied",
        )
    return False


def taken(name: str, value: Any, cuda: Any) -> Any:
    """Returns an array on the GPU as one of Numba's: the same memory, under Numba's type.

    Args:
        name: how errors call it.
        value: an object with `__cuda_array_interface__`.
        cuda: the module that stands for `numba.cuda`.

    Raises:
        CourseError: Numba has no such arrays.
    """
    try:
        return cuda.as_cuda_array(value)
    except (TypeError, ValueError, NotImplementedError) as error:
        said = " ".join(str(error).split())
        raise CourseError(
            f"Numba cannot take {name}, a {type(value).__name__} on the GPU: {said}",
            "pass an array of bool, integers, floats or complex numbers, without a mask",
        ) from error
