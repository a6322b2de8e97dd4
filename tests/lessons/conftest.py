"""A folder of answers of its own for every test, as for the notebook's tests."""

from tests.gpu_course.notebook.conftest import answers

__all__ = ["answers"]
