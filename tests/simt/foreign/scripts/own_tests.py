"""A script that carries its own tests, on numba.cuda.testing."""

import io
import unittest

import numpy as np
from numba import cuda
from numba.cuda.testing import CUDATestCase, captured_cuda_stdout, skip_on_cudasim


@cuda.jit
def fill(x):
    x[cuda.grid(1)] = cuda.laneid
    if cuda.grid(1) == 0:
        print(7)


class TestFill(CUDATestCase):
    @skip_on_cudasim("Numba's simulator has no lanes, and this one has")
    def test_lanes(self):
        x = np.zeros(64, np.int32)
        with captured_cuda_stdout() as shown:
            fill[1, 64](x)
        assert list(x[30:34]) == [30, 31, 0, 1]
        assert shown.getvalue() == "7\n"


result = unittest.TextTestRunner(stream=io.StringIO()).run(
    unittest.defaultTestLoader.loadTestsFromTestCase(TestFill)
)
assert result.testsRun == 1 and result.wasSuccessful() and not result.skipped
